#!/usr/bin/env bash
# Run the browser tests (arguments go to Playwright) and print `N passed, N failed`.
set -euo pipefail
cd "$(dirname "$0")"
[ -d ../.venv/bin ] && PATH="$(cd .. && pwd)/.venv/bin:$PATH"
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1

./chromium.sh
[ node_modules/.yarn-state.yml -nt yarn.lock ] || jlpm install --immutable > install.log 2>&1 || { cat install.log; exit 1; }
touch node_modules/.yarn-state.yml

rm -f test-results/results.json
result=0
jlpm playwright test "$@" || result=$?
node summary.js
exit "$result"
