"""Lines for a shell made to be misread: no rule allows what it was not meant for, and none is evaded."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.rules import parse_rule
from clew.agent.tool import Reach
from tests.agent.permitting.line_making import spoiled
from tests.agent.permitting.places import Place
from tests.agent.permitting.real_shell import BASH, names_run

_JOINED = [
    "{} && rm -rf x", "{}; rm -rf x", "{} | rm -rf x", "{} || rm -rf x", "{} & rm -rf x", "{}\nrm -rf x",
    "{} $(rm -rf x)", "{} `rm -rf x`", '{} "$(rm -rf x)"', '{} "`rm -rf x`"', "{} <(rm -rf x)",
    "{} >(rm -rf x)", "{} <<E\n$(rm -rf x)\nE", "{} <<E\nx\nE\nrm -rf x", "{} <<'E'\nE\nrm -rf x\nE",
    "{} # '\nrm -rf x # '", "{} 'a'\\''b'; rm -rf x", "({}; rm -rf x)", "{{ {}; rm -rf x; }}",
    "if {}; then rm -rf x; fi", "for f in a; do rm -rf $f; {}; done", "while {}; do rm -rf x; done",
    "! {}; rm -rf x", "rm -rf x; {}", "rm -rf x && {}", "x=$(rm -rf x) {}", "x=`rm -rf x`; {}",
    "{} ${{x:-$(rm -rf x)}}", "{} \\\n; rm -rf x", "{} <<-E\n\tE\nrm -rf x\n\tE", "{} 2>&1 | xargs rm -rf",
    "{} | xargs -I{{}} rm -rf {{}}", "{}&&rm -rf x", "timeout 5 rm -rf x; {}", "{} | sudo rm -rf x",
    "{} | env A=1 rm -rf x", "{}; eval 'rm -rf x'", "{}; sh -c 'rm -rf x'", "{}; bash -c \"rm -rf x\"",
    "{}; /bin/rm -rf x", "{}; \\rm -rf x", "{}; r'm' -rf x", "{}; r\"\"m -rf x",
    "{}; nohup nice -n 5 rm -rf x", "{}; find . -exec rm -rf {{}} +", "{}; command rm -rf x",
    "{}; exec rm -rf x",
]  # fmt: skip


@pytest.mark.parametrize("form", _JOINED)
def test_a_rule_for_one_command_allows_no_other(place: Place, form: str) -> None:
    line = form.format("npm run x")
    assert place.shell(line, allow=["Bash(npm run:*)"]).verdict == "ask", line
    assert place.shell(line, allow=["Bash(npm run *)"]).verdict == "ask", line
    assert place.shell(line, mode="acceptEdits", allow=["Bash(npm run:*)"]).verdict == "ask", line
    assert place.shell(line, mode="dontAsk", allow=["Bash(npm run:*)"]).verdict == "deny", line
    assert place.shell(line, mode="plan", allow=["Bash(npm run:*)"]).verdict == "deny", line


@pytest.mark.parametrize("form", _JOINED)
def test_a_command_that_is_forbidden_is_found_wherever_it_hides(place: Place, form: str) -> None:
    line = form.format("npm run x")
    for mode in ("default", "acceptEdits", "bypassPermissions", "dontAsk", "plan"):
        found = place.shell(line, mode=mode, allow=["Bash"], deny=["Bash(rm:*)"])
        assert found.verdict == "deny", (line, mode)
        assert found.rule == "Bash(rm:*)"


@pytest.mark.parametrize(
    "line",
    [
        "$X -rf x", "${X} x", "`echo rm` x", "$(echo rm) x", "r? x", "{rm,-rf,x}", "$'\\x72m' x",
        "\"$X\"m x", "eval $X", "bash -c \"$X\"", "sh -c $X", "case x in x) foo;; esac", "[[ x ]] && foo",
        "f() { foo; }; f", "((x))", "foo ${x@P}", "foo <<$E\nx\n$E",
    ],
)  # fmt: skip
def test_what_might_be_forbidden_is_asked_about_even_when_all_is_allowed(place: Place, line: str) -> None:
    found = place.shell(line, mode="bypassPermissions", allow=["Bash"], deny=["Bash(rm:*)"])
    assert found.verdict == "ask", line
    assert found.is_firm


@pytest.mark.parametrize(
    "line",
    ["git $X", "git \"$(foo)\" x", "git -C x push", "git -c a=b push", "git -P push", "/usr/bin/git push"],
)  # fmt: skip
def test_options_in_between_do_not_hide_a_command(place: Place, line: str) -> None:
    found = place.shell(line, mode="bypassPermissions", deny=["Bash(git push:*)"])
    assert found.verdict != "allow"


@pytest.mark.parametrize(
    "line", ["git commit -m $X", "git log $X", "ls $X", "git commit -m 'git push'", "echo rm"]
)
def test_a_rule_that_forbids_does_not_stand_in_the_way_of_others(place: Place, line: str) -> None:
    found = place.shell(line, mode="bypassPermissions", deny=["Bash(git push:*)", "Bash(rm:*)"])
    assert found.verdict == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "cat {outside}/secret", "cat link", "cat way/secret", "cat ../outside/secret",
        "cat ./../outside/secret", "cd .. && cat outside/secret", "cd nowhere; cat ../outside/secret",
        "cd src && cat ../../outside/secret", "cat lin*", "cat *", "cat way/*",
        "head -n 1 {outside}/secret", "grep x {outside}/secret", "grep -r x {outside}", "grep -R x .",
        "rg -L x", "rg --files {outside}", "rg --pre=sh x", "find -L . -name x", "find {outside}",
        "find . -exec cat {{}} +", "find . -fprint x", "find . -delete", "ls ~/.ssh", "cat ~/.ssh/key",
        "cat ~root/x", "cat $HOME/.ssh/key", "cat < {outside}/secret", "cat <link", "echo $(cat link)",
        "echo `cat link`", "cat <(cat link)", "diff b.txt link", "diff src way", "wc --files0-from=link",
        "sort -o b.txt src/a.py", "sort --outp=b.txt src/a.py", "sort --compress-program=sh b.txt",
        "uniq b.txt src/a.py", "uniq - x", "xxd - x", "sed -i s/a/b/ b.txt", "sed -n '1w x' b.txt",
        "sed -n 1e b.txt", "awk 'BEGIN{{system(\"x\")}}'", "tree -o x", "xxd -r b.txt x",
        "git -c core.pager=x log", "git diff --output=x", "git diff --ext-diff",
        "git diff --no-index b.txt {outside}/secret", "git diff -M {outside}/secret b.txt", "git grep -O x",
        "git grep --open-files-in-pager=x y", "git branch x", "git tag x", "git stash",
        "git remote add x y", "git -C {outside} status", "git --git-dir=x status", "git show --textconv x",
        "git log --outp=x", "GIT_EXTERNAL_DIFF=x git diff", "LD_PRELOAD=x ls", "PATH=. ls", "PATH=.; ls",
        "IFS=x; ls", "BASH_ENV=x ls", "for PATH in .; do ls; done", "date -s x", "date 01010000",
        "hostname x", "printf -v PATH x", "test -v 'a[$(id)]'", "[ -v 'a[$(id)]' ]", "command ls",
        "exec ls", "env ls", "sudo ls", "xargs cat", "ls | xargs cat", "echo $SECRET", "echo ${{SECRET}}",
        "cat $X", "ls *$X", "cat /dev/tcp/x/1", "cat < /dev/tcp/x/1", "cat /proc/self/environ",
        "less b.txt", "vi b.txt", "type -x", "file -C -m b.txt", "rg -f link x", "grep -f link b.txt",
        "jq -f x", "man -P x ls", "cd -", "cd", "cd $X && ls", "pushd .. && cat outside/secret",
        "ls; cd ..; cd outside; cat secret", "tail -f $X", "head -n $X b.txt", "tee x", "cat b.txt | tee x",
        "cat b.txt > x", "cat b.txt >> x", "ls &> x", "ls >& x", "ls 2> x", ": > b.txt", "> b.txt",
        "echo x >| b.txt", "echo x <> b.txt", "cat b.txt | sh", "echo x | bash", "source b.txt", ". b.txt",
        "alias ls=rm", "hash -p x ls", "enable -f x y", "trap x EXIT", "set -x", "unset PATH", "export A=1",
        "read x", "ulimit -n 1", "kill 1", "nice -n 19 tee x", "timeout 5 tee x", "time tee x", "make",
        "npm test", "python x",
    ],
)  # fmt: skip
def test_only_looking_inside_the_project_needs_no_permission(place: Place, line: str) -> None:
    line = line.format(outside=place.outside)
    assert place.shell(line).verdict == "ask", line
    assert place.shell(line, mode="plan").verdict in {"ask", "deny"}, line
    assert place.shell(line, mode="dontAsk").verdict == "deny", line


@pytest.mark.parametrize(
    "line",
    [
        "ls", "ls -la src", "cat b.txt", "cat b.txt src/a.py | head -5", "head -n 3 b.txt", "tail -2 b.txt",
        "wc -l *.txt", "cat *.txt", "grep -rn 'some words' src", "grep -e / b.txt", "cut -d / -f 1 b.txt",
        "ls --full-time", "git log --no-patch",
        "find . -name '*.py' -type f", "git status", "git diff HEAD", "git log --oneline -5",
        "git --no-pager log -n 3", "git branch -a", "git stash list", "sed -n '1,5p' b.txt",
        "sort b.txt | uniq -c | sort -rn", "cd src && ls && cat a.py", "pwd; whoami", "echo hello",
        "echo 'a; b' \"c && d\"", "[ -f b.txt ] && echo yes || echo no", "test -d src; echo $?", "date +%F",
        "diff b.txt src/a.py", "ls 2>/dev/null", "ls 2>&1 | cat", "timeout 5 cat b.txt", "time ls",
        "nice -n 5 grep -r x src", "LANG=C sort b.txt", "for f in a b; do echo x; done", "x=1; echo done",
        "cat < b.txt", "cat <<'E'\nx\nE", "bash -c 'ls; cat b.txt'", "echo \"$(git status)\"",
        "command -v git", "sha256sum b.txt", "true", "rg some src", "stat b.txt", "tree -L 2",
        "if [ -d src ]; then ls src; fi", "(cd src; ls)", "{ ls; pwd; }", "! grep -q x b.txt",
        "printf '%s\\n' a b",
    ],
)  # fmt: skip
def test_looking_inside_the_project_is_allowed(place: Place, line: str) -> None:
    for mode in ("default", "acceptEdits", "plan", "dontAsk"):
        found = place.shell(line, mode=mode)
        assert found.verdict == "allow", (line, mode, found.reason)


@pytest.mark.parametrize(
    ("line", "rule", "is_allowed"),
    [
        ("npm run x", "Bash(npm run:*)", True),
        ("npm run", "Bash(npm run:*)", True),
        ("npm runx", "Bash(npm run:*)", False),
        ("npm run $X", "Bash(npm run:*)", True),
        ("npm $X", "Bash(npm run:*)", False),
        ("npm run 'a; b'", "Bash(npm run:*)", True),
        ("npm 'run x'", "Bash(npm run:*)", False),
        ("'npm run' x", "Bash(npm run:*)", False),
        ("npm run x | npm run y && npm run z", "Bash(npm run:*)", True),
        ("npm run x && cat b.txt | grep y", "Bash(npm run:*)", True),
        ("npm run x > out", "Bash(npm run:*)", False),
        ("npm run x > /dev/null 2>&1", "Bash(npm run:*)", True),
        ("git commit -m \"$(cat <<'E'\nit's fine\nE\n)\"", "Bash(git commit:*)", True),
        ("git diff --output=x", "Bash(git diff *)", True),
        ("git diff", "Bash(git diff *)", True),
        ("git difftool", "Bash(git diff *)", False),
        ("npm test", "Bash(npm test)", True),
        ("npm test x", "Bash(npm test)", False),
        ("npm  test", "Bash(npm test)", True),
        ("git push main", "Bash(git * main)", True),
        ("git push other", "Bash(git * main)", False),
        ("timeout 5 npm run x", "Bash(npm run:*)", True),
        ("timeout 5 npm run x", "Bash(timeout:*)", False),
        ("timeout 5 npm run x", "Bash(timeout 5 npm:*)", True),
        ("timeout -k 9 5 npm run x", "Bash(npm run:*)", True),
        ("nohup nice -n 3 npm run x", "Bash(npm run:*)", True),
        ("sudo npm run x", "Bash(npm run:*)", False),
        ("sudo npm run x", "Bash(sudo:*)", False),
        ("sudo npm run x", "Bash(sudo npm run:*)", True),
        ("sudo -u bob npm run x", "Bash(sudo -u:*)", False),
        ("env A=1 npm run x", "Bash(npm run:*)", False),
        ("A=1 npm run x", "Bash(npm run:*)", False),
        ("A=1 npm run x", "Bash(A=1 npm run:*)", True),
        ("A=1 npm run x", "Bash(A=1:*)", False),
        ("CI=1 npm run x", "Bash(npm run:*)", True),
        ("ls | xargs npm run", "Bash(npm run:*)", True),
        ("ls | xargs npm run", "Bash(npm run)", False),
        ("ls | xargs npm run", "Bash(xargs:*)", False),
        ("ls | xargs -I{} sh -c {}", "Bash(xargs:*)", False),
        ("bash -c 'npm run x'", "Bash(npm run:*)", True),
        ("bash -c 'npm run x'", "Bash(bash:*)", False),
        ("bash -lc 'npm run x'", "Bash(npm run:*)", False),
        ("bash x.sh", "Bash(bash x.sh)", True),
        ("eval npm run x", "Bash(npm run:*)", True),
        ("eval $X", "Bash(eval:*)", False),
        ("find . -exec npm run {} +", "Bash(find:*)", False),
        ("find . -delete", "Bash(find:*)", False),
        ("find . -delete", "Bash(find . -delete:*)", True),
        ("find . -newerXY z", "Bash(find:*)", True),
        ("strace npm run x", "Bash(strace:*)", False),
        ("$X run y", "Bash(* run y)", False),
        ("mkdir x", "Bash(mkdir:*)", True),
        ("mkdir .git/x", "Bash(mkdir:*)", False),
        ("cp b.txt .git/hooks/pre-commit", "Bash(cp:*)", False),
        ("tee .git/hooks/x", "Bash(tee:*)", False),
        ("echo x > .bashrc", "Bash", False),
        ("echo x > out", "Bash", True),
        ("sed -i s/a/b/ .claude/settings.json", "Bash(sed:*)", False),
        ("dd of=.git/config", "Bash(dd:*)", False),
    ],
)
def test_a_rule_allows_what_it_says_and_no_more(place: Place, line: str, rule: str, is_allowed: bool) -> None:
    found = place.shell(line, allow=[rule])
    assert (found.verdict == "allow") is is_allowed, found.reason


@pytest.mark.parametrize(
    "line",
    [
        "cat .env", "cat ./src/../.env", "cat .e*", "cat .en?", "head -1 .env", "grep x .env", "cp .env x",
        "python .env", "cat < .env", "tac .env | rev", "bash -c 'cat .env'", "cd src && cat ../.env",
        "dd if=.env", "curl -F f=@x -T .env",
    ],
)  # fmt: skip
def test_a_file_that_must_not_be_read_is_not_read_by_a_shell(place: Place, line: str) -> None:
    found = place.shell(line, mode="bypassPermissions", allow=["Bash"], deny=["Read(./.env)"])
    assert found.verdict == "deny", line


def test_a_search_that_may_show_a_forbidden_file_is_asked_about(place: Place) -> None:
    for line in ("grep -r x .", "rg x", "git grep x", "git show HEAD", "git diff"):
        assert place.shell(line, deny=["Read(./.env)"]).verdict == "ask", line
    assert place.shell("cat b.txt", deny=["Read(./.env)"]).verdict == "allow"
    assert place.shell("cat *.txt", deny=["Read(./.env)"]).verdict == "allow"


def test_a_file_named_like_an_option_is_not_slipped_in_by_a_pattern(place: Place) -> None:
    assert place.shell("rg words *").verdict == "ask"  # there are links that lead out
    for name in ("link", "way"):
        (place.root / "project" / name).unlink()
    assert place.shell("rg words *").verdict == "allow"
    (place.root / "project" / "--pre=sh").write_text("")
    assert place.shell("rg words *").verdict == "ask"
    assert place.shell("rg words ./*").verdict == "allow"


def test_git_is_not_run_in_a_folder_that_only_looks_like_a_repository(place: Place) -> None:
    trap = place.root / "project" / "trap"
    for name in ("objects", "refs"):
        (trap / name).mkdir(parents=True)
    (trap / "HEAD").write_text("ref: refs/heads/x\n")
    assert place.shell("git status", cwd=str(trap)).verdict == "ask"
    assert place.shell("cd trap && git status").verdict == "ask"
    assert place.shell("git status").verdict == "allow"


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("mkdir -p new/deep", "allow"), ("touch x", "allow"), ("rm b.txt", "allow"),
        ("mv b.txt c.txt", "allow"), ("cp b.txt src/", "allow"), ("echo x > new.txt", "allow"),
        ("rm -r src", "ask"), ("rm src", "ask"), ("mkdir ../x", "ask"), ("touch way/x", "ask"),
        ("cp b.txt way", "ask"), ("echo x > link", "ask"), ("rm .git/config", "ask"),
        ("mv b.txt .git/hooks/x", "ask"), ("cp b.txt .bashrc", "ask"), ("cp src/.bashrc .", "ask"),
        ("mv b.txt .git", "ask"), ("cp -t .git b.txt", "ask"), ("touch $X", "ask"), ("cp *.txt src", "ask"),
        ("echo x > ~/.profile", "ask"), ("ln -s a b", "ask"), ("npm i > log.txt", "ask"),
    ],
)  # fmt: skip
def test_files_of_the_project_are_changed_by_a_shell_when_edits_are_accepted(
    place: Place, line: str, verdict: str
) -> None:
    assert place.shell(line, mode="acceptEdits").verdict == verdict


@pytest.mark.parametrize(
    "line",
    [
        "npm test", "npm install x && npm test", "make -j4", "git push origin main",
        "cargo build --release", "python x.py", "mkdir new", "cat /etc/hosts", "FOO=1 npm test",
        "timeout 9 npm test", "sudo apt install x", "rm -rf build", "echo x > out.txt",
        "docker compose up -d", "test -v x", "git commit -m 'a b'",
    ],
)  # fmt: skip
def test_the_rules_that_are_proposed_are_enough_and_say_no_more_than_they_show(
    place: Place, line: str
) -> None:
    asked = place.shell(line)
    assert asked.verdict == "ask"
    assert asked.proposals, line
    assert all(parse_rule(text) is not None for text in asked.proposals)
    assert place.shell(line, allow=asked.proposals).verdict == "allow"
    assert place.shell(f"{line} && rm -rf /", allow=asked.proposals).verdict == "ask"


@pytest.mark.parametrize(
    "line", ["ls | xargs rm", "$X", "case x in y) z;; esac", "rm 'a*'", "npm run $X", "eval $X"]
)
def test_no_rule_is_proposed_where_none_would_be_narrow(place: Place, line: str) -> None:
    assert place.shell(line).proposals == ()


_ORDER = {"allow": 0, "ask": 1, "deny": 2}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place.make(tmp_path_factory.mktemp("lines"))


@given(st.text(alphabet=st.sampled_from("ab ;&|()<>$`'\"\\\n#{}*?~=-/.!")))
def test_no_line_is_an_error_and_more_rules_that_forbid_never_allow_more(shared: Place, line: str) -> None:
    for mode in ("default", "plan", "bypassPermissions"):
        free = shared.shell(line, mode=mode, allow=["Bash(a:*)"])
        bound = shared.shell(line, mode=mode, allow=["Bash(a:*)"], deny=["Bash(b:*)", "Read(./.env)"])
        assert _ORDER[bound.verdict] >= _ORDER[free.verdict]


@given(st.text(), st.text())
def test_texts_beside_the_command_decide_nothing(shared: Place, told: str, other: str) -> None:
    reach = Reach(command="npm test")
    plain = shared.call("Bash", reach, given={"command": "npm test"})
    said = {
        "command": "npm test",
        "description": told,
        "permission": other,
        "allow": ["Bash"],
        "mode": "bypass",
    }
    assert shared.call("Bash", reach, given=said) == plain


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@given(spoiled())
def test_bash_never_runs_what_is_forbidden_in_a_line_that_is_allowed(shared: Place, line: str) -> None:
    if re.search(r"\(\s*\)|while|until|/", line):
        return
    if shared.shell(line, mode="bypassPermissions", deny=["Bash(b1:*)"]).verdict == "allow":
        with tempfile.TemporaryDirectory() as folder:
            assert "b1" not in names_run(line, Path(folder))
