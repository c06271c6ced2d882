# An RTSP server on the loopback interface for scripts that are told how streams behave (tests/tools/rtsp_server.py); to be sourced.
# ROOT and work (a folder) are set by then. rtsp_pid: "" while none runs; whoever sources this ends it on exit.
rtsp_pid=

# start_rtsp PORT: false where there is none; the last line of $work/server says why.
start_rtsp() {
  /usr/bin/python3 -B "$ROOT/tests/tools/rtsp_server.py" "$1" >"$work/server" 2>&1 &
  rtsp_pid=$!
  local tries
  for ((tries = 0; tries < 100; tries++)); do
    grep -q ready "$work/server" && return 0
    kill -0 "$rtsp_pid" 2>/dev/null || break
    sleep 0.1
  done
  end_rtsp
  return 1
}

end_rtsp() {
  [ -n "$rtsp_pid" ] || return 0
  kill -9 "$rtsp_pid" 2>/dev/null || true
  wait "$rtsp_pid" 2>/dev/null || true
  rtsp_pid=
}
