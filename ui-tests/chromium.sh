#!/usr/bin/env bash
# Succeed where there is a Chromium; install it where that is allowed; else say in one line what to install.
cd "$(dirname "$0")" || exit 1
there() { node -e 'require("./browser")' 2> /dev/null; }

there && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "Installing Chromium for the browser tests."
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } > chromium.log 2>&1 ||
    cat chromium.log
fi
there && exit 0
echo "The browser tests need Chromium: sudo apt-get install chromium, or CHROMIUM_PATH=/path/to/chrome. Then: make ui"
exit 1
