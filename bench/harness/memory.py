"""memory: every run finds the same kind of free memory.

A virtual machine gives what is free back to its host, and the host brings it back page by page when it is touched
again: some 7 us each on one such machine, five times what the guest's own kernel takes for a page. So a run that comes
after one that needed more memory would find its pages in place, and a run that needs the most would never do so.
Whatever a run may need is touched and freed right before it, the same amount for every contestant.
"""

import mmap

PAGE = mmap.PAGESIZE


def available_bytes():
    """What the kernel could hand out now; 0 when it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
    except OSError:
        return 0


def bring_in(nbytes):
    """Touches so much memory and frees it. Not where that would crowd out others: returns how much it was."""
    nbytes = nbytes // PAGE * PAGE
    if nbytes == 0 or nbytes > available_bytes() * 3 // 4:
        return 0
    with mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as touched:
        for at in range(0, nbytes, PAGE):
            touched[at] = 1
    return nbytes
