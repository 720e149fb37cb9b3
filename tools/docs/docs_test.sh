#!/bin/sh
# The pages of docs/ that are made from tables are up to date.
#   docs_test.sh POPRT_DOCS FOLDER CASE_COUNTS
failed=0
check() { # page, arguments
  page=$1
  shift
  if ! "$@" | diff -u "$folder/$page.md" -; then
    echo "docs/$page.md is stale; renew it: $* > $folder/$page.md"
    failed=1
  fi
}
docs=$1 folder=$2 counts=$3
check operators "$docs" operators "$counts"
check passes "$docs" passes
exit $failed
