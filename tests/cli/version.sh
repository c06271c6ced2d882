#!/usr/bin/env bash
# The version and the commit that the program was built from; an archive has none.
source "$(dirname "$0")/lib.sh"
version=$(cat "$SOURCE/VERSION")
run 0 version
first=$(head -n 1 out)
checks=$((checks + 1))
[[ $first =~ ^ridgeline\ {4}"$version"(\ \(([0-9a-f]{7,})\+?\))?$ ]] || problem "the first line of version is \"$first\""
hash=${BASH_REMATCH[2]}
run 0 --version
out "ridgeline ${first#ridgeline    }"
if git -C "$SOURCE" rev-parse HEAD >/dev/null 2>&1 && [ -e "$SOURCE/.git" ]; then
  checks=$((checks + 1))
  git -C "$SOURCE" cat-file -e "${hash:-none}^{commit}" || problem "\"$hash\" is no commit of $SOURCE"
fi

# What a build writes: nothing new where the commit is the same, another hash after a commit, none without .git.
made() { cmake "-DSOURCE=$WORK/tree" "-DOUTPUT=$WORK/commit.cpp" -P "$SOURCE/cmake/Commit.cmake" && grep -o '"[0-9a-f+]*"' commit.cpp; }
# equal NAME GOT EXPECTED
equal() {
  checks=$((checks + 1))
  [ "$2" = "$3" ] || problem "$1: \"$2\", expected \"$3\""
}
commit() { git -C tree -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m "$1"; }
mkdir tree
equal "a folder without .git" "$(made)" '""'
git init -q tree
echo 1 >tree/file
git -C tree add file
commit one
equal "a commit" "$(made)" "\"$(git -C tree rev-parse --short=7 HEAD)\""
touch -d 2001-01-01 commit.cpp
equal "the same commit" "$(made)" "\"$(git -C tree rev-parse --short=7 HEAD)\""
equal "its file" "$(date -r commit.cpp +%Y)" 2001
echo 2 >tree/file
equal "a changed file" "$(made)" "\"$(git -C tree rev-parse --short=7 HEAD)+\""
git -C tree add file
commit two
git -C tree tag v1
equal "another commit, with a tag" "$(made)" "\"$(git -C tree rev-parse --short=7 HEAD)\""
finish
