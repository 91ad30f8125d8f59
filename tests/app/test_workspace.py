"""The folder that holds everything."""

import os
from dataclasses import replace

import pytest

from cyclearn.app.workspace import Workspace, write_json
from cyclearn.foundation.errors import InputError


def test_it_is_made_and_opened_again(tmp_path):
    first = Workspace.open(tmp_path / "new" / "folder")
    folder = first.new_folder("tables")
    write_json(folder / "table.json", {"id": folder.name, "name": "a.csv"})
    job = first.add_job("learn", folder.name, {"options": {}}, None)
    again = Workspace.open(tmp_path / "new" / "folder")
    assert [table["name"] for table in again.tables()] == ["a.csv"]
    assert again.jobs() == [job]


def test_numbers_go_on(tmp_path):
    workspace = Workspace.open(tmp_path)
    names = [workspace.new_folder("jobs").name for _ in range(12)]
    assert names == [f"j{number}" for number in range(1, 13)]
    for name in names:
        write_json(
            workspace.folder / "jobs" / name / "job.json",
            {"id": name, "kind": "learn", "table": "t1"},
        )
    assert [job.id for job in workspace.jobs()] == names


def test_jobs_that_ran_when_the_program_ended_say_so(tmp_path):
    workspace = Workspace.open(tmp_path)
    running = workspace.add_job("learn", "t1", {}, None)
    done = workspace.save(replace(workspace.add_job("learn", "t1", {}, None), state="done"))
    workspace.tidy()
    assert workspace.job(running.id).state == "lost"
    assert "ended" in workspace.job(running.id).message
    assert workspace.job(done.id) == done


@pytest.mark.skipif(os.name != "posix", reason="permissions are of another kind")
def test_nobody_else_can_look_into_it(tmp_path):
    before = os.umask(0)
    try:
        workspace = Workspace.open(tmp_path / "w")
        folders = [workspace.folder, workspace.new_folder("tables"), workspace.new_folder("jobs")]
        write_json(folders[1] / "table.json", {})
        (folders[1] / "table.csv").touch()
    finally:
        os.umask(before)
    assert [oct(each.stat().st_mode & 0o777) for each in folders] == ["0o700"] * 3


def test_a_removed_job_is_there_until_the_next_start(tmp_path):
    workspace = Workspace.open(tmp_path)
    job = workspace.add_job("learn", "t1", {}, None)
    workspace.save(replace(job, state="done", is_removed=True))
    assert workspace.job_folder(job.id).is_dir()
    workspace.tidy()
    assert workspace.jobs() == []


def test_a_table_that_is_still_being_read_is_not_there_yet(tmp_path):
    workspace = Workspace.open(tmp_path)
    name = workspace.new_folder("tables").name
    with pytest.raises(InputError, match="no table 't1'"):
        workspace.table(name)


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match="contains other files"):
        Workspace.open(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_workspace_of_another_version_is_left_alone(tmp_path):
    write_json(tmp_path / "workspace.json", {"schema": "cyclearn.workspace/99"})
    with pytest.raises(InputError, match="version"):
        Workspace.open(tmp_path)


def test_two_programs_do_not_share_one(tmp_path):
    workspace = Workspace.open(tmp_path)
    other = Workspace.open(tmp_path)
    words = pytest.raises(InputError, match="another cyclearn app")
    with workspace.locked(), words, other.locked():
        pass
    with workspace.locked():
        pass
