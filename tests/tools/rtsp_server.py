#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends a test picture as H.264 over RTSP on the loopback interface until it is ended: rtsp_server.py PORT

The address is rtsp://127.0.0.1:PORT/test; "ready" is printed once it can be asked. Needs gir1.2-gst-rtsp-server-1.0 and
gstreamer1.0-plugins-{base,good,bad,ugly}. Exit code 77: they are not there.
"""
import sys

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, Gst, GstRtspServer
except (ImportError, ValueError) as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PICTURES = (
    "( videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=25/1 "
    "! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25 ! rtph264pay name=pay0 pt=96 config-interval=1 )"
)


def main(port):
    Gst.init(None)
    for name in ("videotestsrc", "x264enc", "rtph264pay"):
        if Gst.ElementFactory.find(name) is None:
            print(f"skipped: GStreamer has no {name}")
            return 77
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(PICTURES)
    factory.set_shared(True)
    server.get_mount_points().add_factory("/test", factory)
    if server.attach(None) == 0:
        print(f"port {port} is taken")
        return 1
    print("ready", flush=True)
    GLib.MainLoop().run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
