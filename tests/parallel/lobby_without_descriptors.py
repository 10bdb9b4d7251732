"""Open a lobby in a process with few descriptors; take them all, free them and describe the lobby when asked."""

import contextlib
import os
import resource
import sys

from accord.executors.gangs.lobby import Lobby

SECRET = b"correct horse battery staple"


def main():
    num_open = len(os.listdir("/proc/self/fd"))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (num_open + 40, hard))
    lobby, taken = Lobby(("127.0.0.1", 0), SECRET), []
    print(lobby.address[1], flush=True)
    for line in sys.stdin:
        match line.strip():
            case "take":
                with contextlib.suppress(OSError):
                    while True:
                        taken.append(os.open(os.devnull, os.O_RDONLY))
                print(len(taken), flush=True)
            case "free":
                while taken:
                    os.close(taken.pop())
                print("freed", flush=True)
            case "guests":
                guest = lobby.keepers.get(timeout=30)
                guest.channel.close()
                print(1 + lobby.keepers.qsize(), flush=True)
            case _:
                print(lobby.told(), flush=True)


main()
