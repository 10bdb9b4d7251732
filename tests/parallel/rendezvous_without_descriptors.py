"""Open a rendezvous in a process with few descriptors; take them all, free them and describe it when asked."""

import contextlib
import os
import resource
import sys

from accord.executors.gangs.rendezvous import Rendezvous

SECRET = b"correct horse battery staple"


def main():
    num_open = len(os.listdir("/proc/self/fd"))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (num_open + 40, hard))
    rendezvous, taken = Rendezvous(("127.0.0.1", 0), SECRET), []
    print(rendezvous.address[1], flush=True)
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
            case "peers":
                peer = rendezvous.host_agents.get(timeout=30)
                peer.channel.close()
                print(1 + rendezvous.host_agents.qsize(), flush=True)
            case _:
                print(rendezvous.told(), flush=True)


main()
