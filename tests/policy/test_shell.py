"""What a command line runs: what may be allowed by it, what is found in it, what stays hidden."""

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._policy import shell, shell_table
from dragoman._policy.shell import ShellLine, read, script, words


def found(line: ShellLine, name: str = "rm") -> bool:
    return any(command[0].rsplit("/", 1)[-1] == name for command in line.commands)


PLAIN: list[tuple[str, list[list[str]]]] = [
    ("git log", [["git", "log"]]),
    ("git log; rm -rf x", [["git", "log"], ["rm", "-rf", "x"]]),
    ("git log && echo hi", [["git", "log"], ["echo", "hi"]]),
    ("git log||echo hi", [["git", "log"], ["echo", "hi"]]),
    ("git log | head -3", [["git", "log"], ["head", "-3"]]),
    ("git log\nrm x", [["git", "log"], ["rm", "x"]]),
    ("git log |\n  head\n\n", [["git", "log"], ["head"]]),
    ("echo 'a; rm b' \"c && d\"", [["echo", "a; rm b", "c && d"]]),
    ("echo 'it'\"'\"'s' it\\'s", [["echo", "it's", "it's"]]),
    ('echo "a\\"b" "a\\\\b" "a\\b" "\\$x"', [["echo", 'a"b', "a\\b", "a\\b", "$x"]]),
    ("git log 2>/dev/null", [["git", "log"]]),
    ("git log 2>&1 >/dev/null", [["git", "log"]]),
    ("git log &>/dev/null", [["git", "log"]]),
    ("ls>/dev/null;cat<in", [["ls"], ["cat"]]),
    ("</dev/null cat", [["cat"]]),
    ("ls # what is here", [["ls"]]),
    ("# first\nls\n# last", [["ls"]]),
    ("(cd src && ls)", [["cd", "src"], ["ls"]]),
    ("ls *.py src/**/[ab]?.py ~/x", [["ls", "*.py", "src/**/[ab]?.py", "~/x"]]),
    ("git diff HEAD^ HEAD~2 stash@{0} @{u}", [["git", "diff", "HEAD^", "HEAD~2", "stash@{0}", "@{u}"]]),
    ("find . ! -name x", [["find", ".", "!", "-name", "x"]]),
    ("[ -f x ] && [ a != b ]", [["[", "-f", "x", "]"], ["[", "a", "!=", "b", "]"]]),
    ("git commit -m 'one\n\ntwo'", [["git", "commit", "-m", "one\n\ntwo"]]),
    ("l's' \"-l\"a 'é' naïve", [["ls", "-la", "é", "naïve"]]),
    ("echo a#b x=y", [["echo", "a#b", "x=y"]]),
]


@pytest.mark.parametrize(("text", "commands"), PLAIN)
def test_plain_lines_are_sure(text: str, commands: list[list[str]]) -> None:
    line = read(text)
    assert (line.commands, line.sure, line.hidden) == (commands, True, False)


EVERYDAY = [
    "ls -la", "pwd", "cd src; ls", "cd src && git status", "cat README.md", "head -50 a.py", "tail -n 20 x.log", "wc -l *.py",
    "rg TODO src", 'grep -rn "foo bar" src', "grep -E 'a|b' x", "find . -name '*.py'", "find . -type f -not -path './a/*'",
    "git status", "git branch", "git -C . status", "git log --oneline -5", "git diff --stat", "git show HEAD:src/a.py",
    "date +%Y-%m-%d", "whoami", "uname -a", "df -h", "du -sh .", "stat x", "which python3", "type ls", "command -v node",
    "jq .name package.json", "make -n", "make test", "npm run build", "pytest tests/x.py::test_y -x", "python script.py",
    "python3 -m pytest -q", "python --version", "node --version", "cargo build", "go test ./...", "echo done", "sleep 1",
    "ls | sort | uniq -c | sort -rn", "sed -n '1,40p' x.py", "sed 's/a/b/g' x", "sed -e '/^#/d' -e 's|a|b|' x", "awk '{print $1}' x",
    "cut -d: -f1 x", "tr a-z A-Z < x", "diff a b", "sort -u x", "test -d src", "printf '%s\\n' hi", "mkdir -p a/b", "touch x",
    "ls 2>/dev/null || echo none", 'git add -A && git commit -m "a message"', "tar tzf x.tgz", "curl -s https://example.com/x?a=b",
    "bash scripts/test.sh", "./run.sh --fast", "node server.js", "git log --format='%h %s' | head", "ps aux | grep node",
    "perl script.pl", "git push -u origin main", "git checkout -b x", "git stash list", "ruby -v", "tail -f x | grep -v '^$'",
    "# look\nls -la\n\n# and count\nwc -l a", "echo 'a $(b) `c`'", 'echo "50% (half)"', "[ -n x ] || exit 1", "kill 123",
]  # fmt: skip


@pytest.mark.parametrize("text", EVERYDAY)
def test_everyday_lines_are_sure(text: str) -> None:
    line = read(text)
    assert line.sure
    assert not line.hidden


RUNS_RM = [
    # A glued operator and redirection are two tokens; a redirection may stand in front of a command.
    "ls;</dev/null rm -rf ~", "ls;>/dev/null rm x", "ls&&</dev/null rm x", "ls|</dev/null rm x", "ls\n>/dev/null rm x", "ls;2>/dev/null rm x",
    # A quote in a comment is none, and a backslash at its end joins nothing.
    "ls # it's\nrm -rf ~\n# it's", "ls # \"\nrm x\n# \"", "ls #\\\nrm x", "ls # `\nrm x\n# `", "ls # $(\nrm x\n# )", "#'\nrm x\n#'",
    # Here-documents, whatever they are called.
    "cat <<1\nx\n1\nrm x", "cat <<E\n'\nE\nrm x", "cat <<2\n\n2\nrm x\n", "cat <<'E'\n\"\nE\nrm x", "cat <<E; rm x\nE\n", "cat <<-E\n\t'\n\tE\nrm x",
    # What misled the grammar of the tree.
    "ls\n\\rm -rf x", "ls\n\\\n rm x", "ls a\\\n#; rm x", "r\\\nm x", "ls \\\r\nrm x", "ls \v#; rm x", "ls \f#; rm x", "ls \r#; rm x", "ls\\\t#;rm x",
    "cat a { [#&rm x", "ls } }#;rm x", "echo>&\\ \nrm x",
    # Substitutions.
    "git log $(rm x)", "git log `rm x`", 'echo "$(rm x)"', 'echo "`rm x`"', "cat <(rm x)", "tee >(rm x)", "echo $(echo $(rm x))", "echo `echo \\`rm x\\``",
    "echo ${x:-$(rm x)}", "echo ${x:=`rm x`}", "echo $((1+$(rm x)))", "x=$(rm x)", "a=(1 $(rm x))", "export a=$(rm x)", "cat <<E\n$(rm x)\nE\n", "cat <<E\n`rm x`\nE\n",
    "[[ -n $(rm x) ]]", "for i in $(rm x); do :; done", "case $(rm x) in *) ;; esac", "cat <<< $(rm x)", "ls > $(rm x)", "echo ${a[$(rm x)]}", "echo {a,$(rm x)}",
    # Control flow.
    "if true; then rm x; fi", "if rm x; then :; fi", "for i in 1; do rm x; done", "while rm x; do :; done", "until rm x; do :; done", "{ rm x; }", "! rm x",
    "f() { rm x; }; f", "function f { rm x; }", "case x in x) rm x;; esac", "time rm x", "coproc rm x", "rm x &", "ls & rm x", "select i in 1; do rm x; done",
    "FOO=1 rm x", "A=1 B=$x rm x", "a=(1) rm x", "ls |& rm x", "ls > out; rm x", "rm x > out", "rm x >> out", ">out rm x", "cat <<E >o | rm x\nE\n",
    # Wrappers, one in another.
    "sudo rm x", "sudo -u bob rm x", "sudo -u bob A=1 rm x", "sudo -- rm x", "doas rm x", "env A=1 rm x", "env -i rm x", "env -u A rm x", "env -C / rm x", "env =x rm x",
    "timeout 5 rm x", "timeout -k 1 -s KILL 5s rm x", "nice rm x", "nice -n 5 rm x", "nice -5 rm x", "nohup rm x", "setsid -w rm x", "stdbuf -oL rm x", "ionice -c3 rm x",
    "ionice -c 3 -n 5 rm x", "chrt -o 0 rm x", "taskset 1 rm x", "flock f rm x", "flock -n f rm x", "chroot / rm x", "command rm x", "command -p rm x", "exec rm x", "exec -a y rm x",
    "builtin command rm x", "time -p rm x", "strace -f -o t rm x", "busybox rm x", "watch rm x", "watch -n 1 'rm x'", "unshare -r rm x", "sudo env nice timeout 5 nohup rm x",
    "git ls-files | xargs rm x", "xargs -0 -n 1 rm < f", "xargs -I{} rm {}", "xargs -I % -P 4 rm %", "xargs --max-args=1 rm", "sudo timeout 5 sh -c 'rm x'", "docker run -it img rm x",
    "docker exec c sh -c 'rm x'", "uv run rm x", "npx rm x", "poetry run rm x", "kubectl exec pod -- rm x", "systemd-run --user rm x", "parallel rm ::: x", "- rm x", "noglob rm x",
    "sudo --weird rm x", "timeout --unknown 5 rm x", "env --odd=1 rm x", "ssh host rm x", "ssh -p 22 host 'cd /; rm x'", "ssh host -t 'sudo rm x'", "ssh -o ProxyCommand='rm x' host",
    "find . -exec rm {} \\;", "find . -exec ls {} + -exec rm {} +", "find . -ok rm {} ';'", "find . -execdir rm {} \\;", "find . -exec sh -c 'rm x' \\;", "fd x -x rm", "fd --exec rm",
    # Strings that are run.
    "bash -c 'rm x'", "/bin/bash -lc 'rm x'", "sh -c 'bash -c \"rm x\"'", "sh -ec 'rm x'", "bash -c -- 'rm x'", "bash -o pipefail -c 'rm x'", "bash -co pipefail 'rm x'", "bash --norc -c 'rm x'",
    "eval 'rm x'", "eval rm x", "eval eval \"'rm x'\"", "trap 'rm x' EXIT", "trap -- 'rm x' 0", "bash <<< 'rm x'", "bash <<E\nrm x\nE\n", "sh -s <<'E'\nrm x\nE\n", "env -S 'rm x'", "env '-Srm x'",
    "env --split-string='rm x'", "env -vS 'rm x'", "timeout 5 sh -c 'rm x'", "git ls-files | xargs sh -c 'rm x'", "su -c 'rm x'", "su bob -c 'rm x'", "su - bob -c 'rm x'", "runuser -u bob -- rm x", "script -qc 'rm x' /dev/null",
    "script /dev/null -c 'rm x'", "flock f -c 'rm x'", "alias x='rm x'", "mapfile -C 'rm x' -c 1 a", "compgen -C 'rm x'", "complete -C 'rm x' y", "jobs -x rm x", "hash -p /bin/rm ls", "PS4='$(rm x)' bash -x f",
    "git -c alias.x='!rm x' x", "git -c core.pager='rm x' log", "git config alias.x '!rm x'", "git rebase -x 'rm x' HEAD^", "git bisect run rm x", "git submodule foreach 'rm x'", "git filter-branch --tree-filter 'rm x'",
    "git difftool -x 'rm x'", "git grep -O'rm x' y", "GIT_PAGER='rm x' git log", "GIT_SSH_COMMAND='rm x' git fetch", "EDITOR='rm x' git commit", "PROMPT_COMMAND='rm x'", "export PAGER='rm x'", "env PAGER='rm x' man ls",
    "tar --checkpoint-action=exec='rm x' -cf a b", "tar --checkpoint-action exec='rm x' -cf a b", "tar -xf a --to-command='rm x'", "tar -I 'rm x' -cf a b", "tar --use-compress-prog='rm x' -cf a b", "tar cIf 'rm x' a b",
    "rsync -e 'rm x' a b:c", "rsync --rsh='rm x' a b:c", "sort --compress-program='rm' a", "split --filter='rm x' a", "rg --pre rm x", "scp -S rm a b:c", "hyperfine 'rm x'", "npx -c 'rm x'", "man -P 'rm x' ls",
    "git -C rebase grep -O'rm x' y", "git -C grep rebase -x 'rm x'", "ssh -o 'ProxyCommand rm x' host", "bash 0<<E\nrm x\nE\n", "bash -c - 'rm x'", "autossh -M 0 host rm x", "chrt -i rm x", "bash.exe -c 'rm x'", "zsh --emulate sh -c 'rm x'",
    "cat <<E && rm x\ny\nE\n", "echo a && bash <<< 'rm x'", "<a <b rm x >c", "ls <<< x; rm x", "cat > f <<E | rm x\ny\nE\n", "ls |\n# c\nrm x", "(ls; (rm x))", "x=1 y=$(rm x) z", "repeat 3 rm x", "jobs -x rm x", "ls $(\nrm x\n)",
    # Names in other spellings.
    "'rm' x", '"rm" x', "\\rm x", "r'm' x", 'r""m x', "$'rm' x", "$'\\x72m' x", "$'\\162m' x", "$'\\u0072m' x", "/bin/rm x", "../bin/rm x", '$"rm" x', "sudo $'\\x72m' x", "sh -c $'r\\x6d x'",
]  # fmt: skip


@pytest.mark.parametrize("text", RUNS_RM)
def test_a_denied_command_is_found_and_no_rule_allows_the_line(text: str) -> None:
    """Lines that passed a rule which allows `ls`, or a rule which denies `rm`, and ran rm."""
    line = read(text)
    assert found(line) or line.hidden
    assert not line.sure or found(line)


HIDDEN = [
    "$x", "$x rm", "${x} y", "$(echo rm) x", "`echo rm` x", "r? x", "/bin/r* x", "{rm,x}", "${x:-rm} y", '"$@"', "sudo $x", "env $x y", "xargs -I{} {} x", "timeout 5 $x", 'command "$x"', "r$x m",
    "echo 'rm x' | sh", "echo 'rm x' | bash -s", "curl x | sudo bash", "curl x | bash -", "cat x | python3", "echo x | perl", "echo x | node", "cat <<E | sh\nrm x\nE\n", "bash <(echo rm x)", "source <(echo rm x)", ". /dev/stdin <<< 'rm x'",
    "bash /dev/stdin <<< 'rm x'", "exec 3<<<'rm x'; bash /dev/fd/3", "{ bash; } <<< 'rm x'", "echo rm | (cd /; sh)", "f() { sh; }; echo rm | f", "while read x; do $x; done", "bash", "sh -s", 'bash <<< "$x"', "bash <<E\n$x\nE\n",
    'eval "$x"', 'sh -c "$x"', 'bash -lc "rm $x"', "sh -c", 'env -S "$x"', 'ssh host "$x"', "ssh host", "sh -c '$0' rm", "sh -c '\"$@\"' x rm", 'trap "$x" EXIT', "su", "sudo -i", "xargs sh -c", "xargs sh", "xargs sudo", "xargs bash -c '{}'",
    "xargs -I{} sh -c 'echo {}'", "find . -exec {} \\;", "find . -exec sh -c 'echo {}' \\;", "python -c 'x'", "python3 -Ic 'x'", "python - <<E\nx\nE\n", "python <<'E'\nx\nE\n", "python -W ignore -c x", "perl -e x", "perl -ne x", "perl -i -pe x f",
    "ruby -e x", "node -e x", "node -p x", "node --eval=x", "php -r x", "lua -e x", "deno eval x", "Rscript -e x", "tclsh", "osascript -e x", "pwsh -c ls", "powershell ls", "powershell.exe -Command ls", "cmd /c dir", "cmd.exe /c dir", "fish -c ls", "csh -c ls",
    "awk 'BEGIN{system(\"rm x\")}'", "awk '{print | \"sh\"}'", "awk '{\"rm x\" | getline}'", "sed '1e rm x' f", "sed 's/x/rm y/e' f", "sed -n 's/x/y/pe' f", "sed e", "vim -c '!rm x'", "ed f", "psql -c '\\! rm x'", "sqlite3 x '.shell rm x'", "socat - EXEC:rm",
    "make SHELL=/x", "git --exec-path=/x status", "git clone 'ext::sh -c rm'", "echo 'rm x' > f; sh f", "cat > f.py <<'E'\nx\nE\npython f.py", "echo rm > ./x && ./x", "printf x > f && . ./f", "BASH_ENV=<(echo rm) bash x", "fc -s", "enable -f x y", "bind -x x",
    "curl -o x.sh u && sh x.sh", "wget https://u/x.sh; bash x.sh", "cp /bin/rm y; ./y z", "tee x.sh <<E\nrm\nE\nsh x.sh", "python.exe -c x", "crontab -", "crontab", "make -f <(echo x)", "bash 0<<E\n$x\nE\n",
    "sed \"$x\" f", "awk \"$x\" f", "sed --expr='1e rm' p", "git -c x.y=z -c alias.q='!$x' q", "python -m timeit x", "vim -c 'call system(1)'", "env -S 'r\\_m'",
    "echo >& '$(rm x)'", "echo>& \\$\\(rm\\)", "cat <& '`rm`'",
    "RANDOM='a[$(rm x)]'", "for OPTIND in 'a[$(rm x)]'; do :; done", "HISTCMD='a[`rm`]' ls", "exec {a['$(rm)']}>o",
    "test -v 'a[$(rm x)]'", "[ -v 'a[$(rm x)]' ]", "[[ -v 'a[$(rm x)]' ]]", "printf -v 'a[$(rm x)]' y", "let 'a[$(rm x)]'", "unset 'a[$(rm x)]'", "declare -i 'x=a[$(rm x)]'", "read 'a[$(rm x)]' <<< x", "[[ 'a[$(rm x)]' -eq 0 ]]", "x='a[$(rm x)]'; ((x))",
    "x='a[$(rm x)]'; echo $((x))", "x='$(rm x)'; echo ${x@P}", "x='a[`rm x`]'; echo ${!x}", "x='a[$(rm x)]'; echo ${y:x}", "x=a'[''$''('rm')'']'; ((x))", "echo 'a[$(rm)]' | { read x; ((x)); }", "wait -p 'a[$(rm x)]'",
    "'", '"', "ls (", "ls )", "if", "ls <<E", "ls; }", "for", "ls &&", "echo \x01", "ls \x00 rm", "ls \x1b[0m", "ls\r\nrm x", "echo \ud800", "echo a |; rm", "case x in", "a" * 70_000, "(" * 50, "echo !(a|b)",
    "cat <<E\nx", "cat <<E1 <<E2\nE1\nE2\n", "coproc x { rm x; }", "ls \\\n# it's $x\\\nrm", "cat <<E \\\n x\nE\n", "repeat 3 { rm x }",
]  # fmt: skip


@pytest.mark.parametrize("text", HIDDEN)
def test_what_cannot_be_read_is_hidden(text: str) -> None:
    line = read(text)
    assert line.hidden
    assert not line.sure


NOT_HIDDEN = [
    "echo $x", 'echo "$x" ${y} $(git rev-parse HEAD)', "for i in 1 2; do echo $i; done", "for f in *.py; do wc -l \"$f\"; done", "if [ -f x ]; then cat x; fi", "while read -r x; do echo $x; done < f", "f() { ls; }; f", "echo hi > out", "python script.py > log 2>&1",
    "python3 -m http.server", "make -j4", "npm run x -- --y", "FOO=1 npm test", "NODE_OPTIONS=--max-old-space-size=4096 npm run build", "export PATH=$PATH:/x", "x=1; echo $((x+1))", "[[ -n $x && $y == z* ]]", "cat <<'E' > f\nit's $(x) `y`\nE\n", "cat <<E > f\nhello $x\nE\n",
    "bash script.sh", "sh -c 'ls; pwd'", "find . -name x -exec grep y {} +", "git ls-files | xargs wc -l", "sudo apt-get update", "timeout 5 npm test", "sed -i 's/a/b/' f", "awk -F: '$1 == \"a\" || $2 {print $2}' f", "awk '{s+=$1} END {print s}' f", "ls &", "npm start & sleep 2; curl localhost",
    "ls \\\n  -la \\\n  src", "curl -H 'A: b' \\\n  -d '{\"x\": 1}' \\\n  http://x", 'git commit -m "$(cat <<\'E\'\nmessage, it is\nE\n)"', "echo {a,b} {1..3}", "diff <(sort a) <(sort b)", "uv run pytest -q", "docker run --rm -v $PWD:/x img npm test", "a=(1 2 3); echo ${a[0]} ${#a[@]}",
    "trap 'echo done' EXIT", "ssh host 'ls -la'", "watch -n 5 'git status'", "set -e; ls", "source .venv/bin/activate && python x.py", "node server.js &", "grep -q '$(x)' f && echo y", "true; exit 0", "x=${y:-z}; echo ${x%.py} ${x##*/}", "tar xzf a.tgz", "rsync -av a b", "git -c user.name=x commit",
    "crontab -l", "curl -o x.tgz u && tar xzf x.tgz", "cp a.sh b.sh", "chmod +x x.sh && ./x.sh", "sed -n '/a/,/b/p' f", "sed '# c\n1d' f", "awk -v n=\"$x\" '{print n}' f",
    "npx tsc --noEmit", "python -u script.py", "python -m pytest -c x", "perl -Ilib t.pl", "node --test", "bash --version", "sudo -u bob ls",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_HIDDEN)
def test_ordinary_lines_are_not_hidden(text: str) -> None:
    """Else every `$x` and every loop would be asked for where a rule denies anything."""
    assert not read(text).hidden


NOT_SURE = [
    *("git log > out", "eval x", ". ./x", "source x", "a=1", "a=1 ls", "echo ${x}", "echo $x", 'echo "$x"', "x <<E\ny\nE", "cat <<< x", "ls &", "ls & pwd", "! ls", "{ ls; }", "echo {a,b}", "echo {1..3}", ""),
    *("git log --output=x", "git diff --outp x", "git show --ext-diff", "git -c a.b=c log", "git config a.b c", "git fetch --upload-pack=x y", "find . -delete", "find . -fprint x", "env", "sudo ls", "xargs ls"),
    *("cat < /dev/tcp/x/80", "cat </dev/udp/x/80", "cat < /dev/sda", "ls > /dev/tcp/x/80", "ls > /dev/sda", "ls >&out", "cat <&3", "cat <>x", "ls >| x", "ls {fd}>x", "> x", "< x", "cat < *", "cat < ~/x", "cat < $x", "cat <a<b<c <<<d"),
    *("echo =ls", "ls *(e:x:)", "ls <1-5>", "ls ^x", "^a^b", "echo !!", "echo !ls", 'echo "!x"', "ls @(a|b)", "*", "./x*", "~/x", "l? y", "l{s,} y", "[a] x", "ls ~[x]", "ls;#x", "ls # a'b", "ls # $x", "ls\u00a0rm", "ls\u3000-a", "ls \u200b", "ls \u2028", "ls \u202e", "l\u0455", "ls 日\\;rm", "ls '日'日|rm"),
    *("test -v x", "[ -v x ]", "printf -v x y", "printf '%d' 'a[$(x)]'", "[ 'a[$(x)]' -eq 1 ]", "exit 'a[$(x)]'", "let x", "mapfile x", "readarray x", "compgen x", "complete x", "jobs", "hash x", "alias x=y", "unalias x", "enable x", "exec ls", "set -x", "shopt x", "declare x"),
    *("typeset x", "local x", "export x=y", "readonly x", "unset x", "read x", "getopts x y", "bind x", "fc", "history", "builtin ls", "command ls", "trap x EXIT", "wait -p x", "time ls", "coproc ls", "[[ -f x ]]", "((x))", "if ls; then ls; fi", "sed -n 'w x' y", "tar xf x *", "tar *"),
    *("ls\\\n", "ls \\\n -a", "l\\\ns", "ls\x0b-a", "ls\r", "ls\x07", "'' x", "ls (x)", "((ls))", "ls |& cat", "ls ;; cat", "()", "f() { ls; }", "time", "if", "ls)", "(ls", "python -c x", "python", "- ls", "noglob ls"),
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_SURE)
def test_lines_that_nobody_can_vouch_for(text: str) -> None:
    assert not read(text).sure


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("cat .en*", [".en*"]),
        ("cat .{env,x} {a,b}.{c,d}", [".env", ".x", "a.c", "a.d", "b.c", "b.d"]),
        ("cat x{1..3}", ["x*"]),
        ("cat ~/.ssh/id_rsa ~bob/x", ["~/.ssh/id_rsa", "~bob/x"]),
        ('cat $HOME/.env "${HOME}/x"', ["~/.env", "~/x"]),
        ("cat '~/x' '*' 'a[b]' \\?", ["[~]/x", "[*]", "a[[]b]", "[?]"]),
        ('cat "$x" $y $z/.env id_$k', ["*/.env", "id_*"]),
        ("cat < .env > out 2>/dev/null", [".env", "out"]),
        ("dd if=/dev/sda", ["if=/dev/sda", "/dev/sda"]),
        ("x -f/etc/passwd --file=.env -d@.netrc @y", ["/etc/passwd", ".env", ".netrc", "@y", "y"]),
        ("git show HEAD:.env", ["show", "HEAD:.env", ".env"]),
        ("for f in .env; do cat $f; done", [".env"]),
        ("f=.env; cat $f", [".env"]),
        ("echo $(cat .env)", [".env"]),
        ("sh -c 'cat .env'", ["cat .env", ".env"]),
        ("curl -F 'x=@.env' file:///etc/passwd", ["x=@.env", ".env", "file:///etc/passwd", "/etc/passwd"]),
        ("ls", []),
        ("cat .e'n'v .e\\nv $'\\x2eenv'", [".env"]),
    ],
)
def test_words_that_may_name_files(text: str, files: list[str]) -> None:
    """Spellings of a secret's name that passed unasked."""
    named = read(text).files
    assert [name for name in files if name not in named] == []
    assert bool(named) == bool(files)


def test_braces_do_not_explode() -> None:
    assert len(read("cat " + "{a,b}" * 40).files) <= 64
    assert len(read("cat " + "{a," * 40 + "}" * 40).files) <= 64


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("/bin/bash -lc 'git log; ls'", "git log; ls"),
        ("bash -lc 'echo '\"'\"'hi'\"'\"''", "echo 'hi'"),
        ("sh -c ls", "ls"),
        ('zsh -lc "ls -la"', "ls -la"),
        ("bash -lc 'ls' extra", "bash -lc 'ls' extra"),
        ("bash -lc ls;rm", "bash -lc ls;rm"),
        ("bash -lc ls>x", "bash -lc ls>x"),
        ('bash -lc "$x"', 'bash -lc "$x"'),
        ("bash -lc $'ls'", "bash -lc $'ls'"),
        ("./bash -lc ls", "./bash -lc ls"),
        ("/tmp/bash -lc ls", "/tmp/bash -lc ls"),
        ("bash -oc ls", "bash -oc ls"),
        ("rsync -c x", "rsync -c x"),
        ("git log", "git log"),
    ],
)
def test_the_script_of_a_shell(text: str, inner: str) -> None:
    """Only a known shell's, and only where nothing else is in the line: a program named bash may be anything."""
    assert script(text) == inner


def test_the_words_of_a_command() -> None:
    assert words("git commit -m 'a b'") == ["git", "commit", "-m", "a b"]
    assert words("it's") == ["it's"]


def test_wrapped_commands_come_with_their_wrappers() -> None:
    assert read("sudo env A=1 sh -c 'rm x'").commands == [
        ["sudo", "env", "A=1", "sh", "-c", "rm x"],
        ["env", "A=1", "sh", "-c", "rm x"],
        ["sh", "-c", "rm x"],
        ["rm", "x"],
    ]


def test_every_tail_counts_where_an_option_is_not_understood() -> None:
    line = read("timeout --odd 5 rm x")
    assert line.hidden
    assert ["rm", "x"] in line.commands
    assert ["5", "rm", "x"] in line.commands


@pytest.mark.parametrize(
    "text",
    [
        "eval " * 60 + "ls",
        "$(" * 200 + "ls" + ")" * 200,
        "sh -c " * 20 + "ls",
        "a;" * 30_000,
        "{" * 5_000,
        "`" * 999,
        "'" * 999,
    ],
)
def test_what_is_too_deep_or_too_long_comes_to_an_end(text: str) -> None:
    assert not read(text).sure


@given(
    st.text() | st.text(alphabet="ab '\"\\$(){}[]<>|&;#`\n\t*?~!=-,E") | st.text(alphabet="<E\n $(`)\"'a|>;-")
)
def test_nothing_raises(text: str) -> None:
    reading = shell._Reading()
    reading.line(text, depth=0)
    words(text)
    script(text)


def test_a_failure_of_the_reader_hides_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell.shell_tree, "tree", lambda text: 1 / 0)
    line = shell.read.__wrapped__("ls")
    assert line.hidden
    assert not line.sure


def test_the_grammar_is_loaded_only_for_a_line_that_is_read() -> None:
    code = "import sys; from dragoman._policy import policy, rules, shell; print(*sys.modules); shell.read('ls'); print(*sys.modules)"
    before, after = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert "tree_sitter" not in before.split()
    assert "tree_sitter" in after.split()


def test_every_name_stands_in_the_table_once() -> None:
    table = shell_table.table()
    rows = [*table.wrapper, table.shell, *table.interpreter, *table.carrier]
    names = Counter(name for row in rows for name in row.names)
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("row", shell_table.table().wrapper, ids=lambda row: row.names[0])
def test_every_wrapper_is_looked_through(row: shell_table.Wrapper) -> None:
    """Bare, and with an option that nobody knows: then the name is hidden at least."""
    before = " x" * min(row.before, 1)
    for name in row.names:
        for text in (
            f"{name}{before} rm y",
            f"{name} --no-such-option{before} rm y",
            f"{name} -@{before} rm y",
        ):
            line = read(text)
            assert found(line) or line.hidden
            assert not line.sure


@pytest.mark.parametrize(
    "before", ["{", "a{", "t{1..", "x,{", "echo {", "${a:-{", "<<", "[[ a =~ ", "$((", "{1.."]
)
def test_no_character_ends_the_process(before: str) -> None:
    """The grammar's scanner is C, and what it stumbles over is not raised: a process of its own shows it."""
    marks = [chr(n) for n in (0x80, 0xE9, 0x2003, 0xD7FF, 0xFFFF, *range(0x1_0FFF, 0x11_0000, 0x1_FFFF))]
    texts = [f"{before}{mark}{behind}" for mark in marks for behind in ("", "}", f"{mark}}}{mark}")]
    code = (
        "import sys; from dragoman._policy.shell import read; [read(text) for text in eval(sys.stdin.read())]"
    )
    done = subprocess.run([sys.executable, "-c", code], input=ascii(texts), text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_letters_beyond_ascii_are_parts_of_words() -> None:
    line = read("git commit -m 'größer 😀' 😀.txt;ü{1é2}")
    assert line.commands == [["git", "commit", "-m", "größer 😀", "😀.txt"], ["ü{1é2}"]]
