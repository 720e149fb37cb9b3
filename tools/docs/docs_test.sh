#!/bin/sh
# The pages of docs/ that are made from tables are up to date.   docs_test.sh POPRT_DOCS FOLDER
failed=0
for page in operators passes; do
  if ! "$1" $page | diff -u "$2/$page.md" -; then
    echo "docs/$page.md is stale; renew it: $1 $page > $2/$page.md"
    failed=1
  fi
done
exit $failed
