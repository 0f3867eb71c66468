"""start.py NAME=VALUE... -- COMMAND...: Python with COMMAND, and the variables set; NAME+=VALUE
goes in front of what is there. What only this program is to be started with, and not those that
lead to it: LD_AUDIT, LD_PRELOAD."""
import os
import sys

end = sys.argv.index("--")
for word in sys.argv[1:end]:
    name, _, value = word.partition("=")
    if name.endswith("+"):
        name = name[:-1]
        value = ":".join(filter(None, (value, os.environ.get(name))))
    os.environ[name] = value
os.execv(sys.executable, [sys.executable, *sys.argv[end + 1 :]])
