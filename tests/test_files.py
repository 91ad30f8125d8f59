"""Files are written whole or not at all, and what was there stays when writing fails."""

import errno
import os
import stat
import threading

import pytest

from cyclearn import DirectedGraph, InputError, read_graph, write_graph
from cyclearn.foundation.files import (
    check_output,
    read_text,
    replacing,
    write_bytes,
    write_new,
    write_text,
)

AB = DirectedGraph.from_edges([("a", "b")])


def fail_with(number):
    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    return fail


def test_what_is_written_reads_back_and_leaves_nothing_beside(tmp_path):
    path = tmp_path / "text.txt"
    for text in ("one", "µ\r\ntwo", ""):
        write_text(path, text)
        assert read_text(path) == text
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_what_was_there_stays_when_writing_fails(tmp_path, monkeypatch, call, number):
    path = tmp_path / "g.json"
    write_graph(AB, path)
    monkeypatch.setattr(os, call, fail_with(number))
    with pytest.raises(InputError, match=f"cannot write .*{os.strerror(number)}"):
        write_graph(DirectedGraph.from_edges([("c", "d")]), path)
    assert read_graph(path) == AB
    assert list(tmp_path.iterdir()) == [path]


def test_an_interruption_leaves_what_was_there(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("old")

    def interrupted():
        with replacing(path) as beside:
            beside.write_text("half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "real.txt", tmp_path / "link.txt"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    # A new file has the permissions of any new file.
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "new", "")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("action", [lambda path: write_text(path, "x"), check_output])
def test_places_that_cannot_be_written(tmp_path, action, monkeypatch):
    for path, reason in (
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "folder.txt", "there is no folder"),
        ("/dev/full", "device"),
        (tmp_path / ("n" * 300), "too long"),
        (tmp_path / "nul\x00l", "null"),
    ):
        with pytest.raises(InputError, match=reason):
            action(path)
    locked = tmp_path / "locked.txt"
    locked.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="is write-protected"):
        action(locked)
    assert [path.name for path in tmp_path.iterdir()] == ["locked.txt"]
    assert locked.read_text() == "old"


def test_an_output_is_tried_without_touching_it(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("old")
    check_output(path)
    check_output(tmp_path / "new.txt", [path, None, tmp_path / "absent"])
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("old.txt", "old")]
    link = tmp_path / "link"
    link.symlink_to(path)
    for source in (path, str(path), link, tmp_path / ".." / tmp_path.name / "old.txt"):
        with pytest.raises(InputError, match="is an input"):
            check_output(path, [source])


def test_of_many_that_begin_a_file_one_does(tmp_path):
    path = tmp_path / "new.txt"
    begun = []
    threads = [
        threading.Thread(target=lambda n=n: begun.append(write_new(path, b"%d" % n)))
        for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(begun) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_reading_says_what_is_the_matter(tmp_path):
    latin = tmp_path / "latin.txt"
    latin.write_bytes("größe".encode("latin-1"))
    marked = tmp_path / "marked.txt"
    marked.write_bytes(b"\xef\xbb\xbfa -> b\n")
    for path, reason in (
        (tmp_path, "it is a folder"),
        (tmp_path / "absent", "No such file"),
        (latin, "not UTF-8"),
    ):
        with pytest.raises(InputError, match=reason):
            read_text(path, "graph file")
    assert read_graph(marked) == AB
    # A device that never ends is not held in memory.
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        read_text("/dev/zero", "graph file", max_bytes=1000)
