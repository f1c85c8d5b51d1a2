"""Command lines made by bash's own grammar, most of them with the canary `pwn` in a place where it will be run.

The same seed makes the same lines. Three kinds: lines that nest commands in whatever can hold one, lines of tokens that
readers have stumbled over, and either of them with something struck out, doubled or slipped in.
"""

import shlex
from collections.abc import Callable, Iterator
from random import Random

CANARY = "pwn"
HARMLESS = (
    "ls", "ls a", "cat a", "echo hi", "true", "git log", "git status", "head -3 a", "wc -l a", "grep x a", "pwd", "cd .",
    "printf x", "echo 'it is'", 'echo "a b"', "ls *.py", "cat < a", "ls 2>/dev/null", "git log 2>&1", "sort a", "[ -f a ]",
    "echo a#b", "test -n x", "echo {", "echo }", "echo '#'", "ls -la ./", "cat a b", "echo \\#", "echo a\\ b", "false",
    "echo 'x; pwn'", 'echo "a && pwn"', "echo a\\;pwn", "grep 'x|pwn' a", "ls ';' pwn", "cat 'a\npwn'", 'echo "it\'s; pwn"', "echo pwn",
    "echo 'a\npwn\n'", 'ls "\n" pwn', "echo \\' pwn", "echo \\\\ pwn", "git log --grep='$(pwn)'", "echo '`pwn`'", "echo \\$\\(pwn\\)", "( ls )", "(cd . && ls a)",
    "git diff HEAD^", "find . -name a", "sed -n 1p a", "ls ~", "echo x=y", "date", "echo -- -x", "git show stash@{0}",
)  # fmt: skip
OPERATORS = (
    ";",
    "; ",
    " && ",
    "&&",
    "||",
    "|",
    " | ",
    "|&",
    "&",
    "\n",
    "\n",
    ";\n",
    "\n\n",
    "&\n",
    "|\n",
    "&& \n",
)
BLANKS = ("", "", " ", " ", "  ", "\t")
REDIRECTS = (
    ">/dev/null", "2>/dev/null", "2>&1", ">&2", "</dev/null", "< a", "&>/dev/null", ">o", ">>o", "1>&2", "<a", "2> /dev/null",
    "<<<x", "<<<'a b'", ">|o", "<>a", "3>&1", ">&o", "<&0", "2>&-", "{fd}>o", "&>>o",
)  # fmt: skip
COMMENTS = (
    "# x",
    "# pwn",
    "# see a/b",
    "#pwn",
    "# x",
    "# it's",
    '# say "',
    "#",
    "# a `b",
    "# $(",
    "# \\",
    "#'",
    "# a; b",
    "#\\",
    "# (",
    "# {",
    "# <<E",
)
NASTY = (
    "'", '"', "\\", "`", "$", "(", ")", "{", "}", "[", "]", "#", "!", "~", "*", "?", "=", ";", "&", "|", "<", ">", "\n", "\\\n",
    "\r", "\v", "\f", "\t", " ", "\\\r\n", "\\\t", "\\ ", "\u00a0", "\u2003", "\u3000", "\u200b", "\ufeff", "\x85", "\x01", "\x7f",
    "$(", "${", "$((", "))", "$'", '$"', "<<", "<<<", "<<-", "<(", ">(", ";;", "&&", "||", "|&", ";&", "<<E\n", "\nE\n", "E",
    "{ ", " }", "{ [", "} }#", "[[ ", " ]]", "(( ", "! ", "#;", "a#", "\\#", "''", '""', "\\'", "^", "=ls", "@(", "?(", "*(e:",
    "if ", "then ", "fi", "do ", "done", "case ", "esac", "in ", "time ", "coproc ", "function ", "a() ", "a=1 ", "a+=(", "a[0]=",
    "1", "2>", ">&", "&>", "-v", "pwn", "pwn", "pwn", "ls", "echo", "é", "à", "日", "\u2028", "\\n", "\x1b[0m", "0<", "{a,b}", "{1..2}",
)  # fmt: skip


class Lines:
    """Draws lines of one seed."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)

    def __iter__(self) -> Iterator[str]:
        while True:
            yield self.one()

    def one(self) -> str:
        chance = self.dice.random()
        if chance < 0.15:
            line = self.tokens()
        elif chance < 0.6:
            line = self.plain()
        else:
            line = self.script(3)
        if self.dice.random() < 0.25:
            line = self.mutated(line)
        return line[:2_000]

    # --- pieces -----------------------------------------------------------------------------------------

    def pick(self, *choices: str) -> str:
        return self.dice.choice(choices)

    def any_of(self, choices: tuple[str, ...]) -> str:
        return self.dice.choice(choices)

    def tokens(self) -> str:
        """Tokens in any order, among them harmless commands and the canary."""
        parts = [self.any_of(HARMLESS)]
        for _ in range(self.dice.randint(1, 7)):
            parts.append(self.any_of(NASTY) if self.dice.random() < 0.7 else self.any_of(HARMLESS))
            parts.append(self.any_of(BLANKS))
        parts.append(self.pick(CANARY, CANARY, " pwn", "\npwn", ";pwn", " # pwn", "ls", ""))
        return "".join(parts)

    def plain(self) -> str:
        """Harmless commands, comments and redirections between operators; the canary among them, or not."""
        parts = []
        for _ in range(self.dice.randint(1, 4)):
            parts += [self.any_of(HARMLESS), self.any_of(BLANKS)]
            if self.dice.random() < 0.15:
                parts += [" ", self.any_of(REDIRECTS)]
            if self.dice.random() < 0.25:
                parts += [self.any_of(BLANKS), self.any_of(COMMENTS), self.pick("\n", "\n", "\\\n", " ")]
            elif self.dice.random() < 0.1:
                parts += [self.any_of(NASTY), self.any_of(BLANKS)]
            parts += [self.any_of(OPERATORS), self.any_of(BLANKS)]
            if self.dice.random() < 0.05:
                parts += [self.any_of(REDIRECTS), self.any_of(BLANKS)]
        parts.append(self.canary() if self.dice.random() < 0.25 else self.any_of(HARMLESS))
        if self.dice.random() < 0.2:
            parts += ["\n", self.any_of(COMMENTS)]
        return "".join(parts)

    def mutated(self, line: str) -> str:
        for _ in range(self.dice.randint(1, 3)):
            at = self.dice.randint(0, len(line))
            match self.dice.randint(0, 4):
                case 0:
                    line = line[:at] + line[at + 1 :]
                case 1:
                    line = line[:at] + line[at : at + 3] + line[at:]
                case _:
                    line = line[:at] + self.any_of(NASTY) + line[at:]
        return line

    # --- words ------------------------------------------------------------------------------------------

    def quoted(self, text: str) -> str:
        """One of the spellings of a word, whatever is in it."""
        ways: list[Callable[[str], str]] = [
            shlex.quote,
            lambda t: "'" + t.replace("'", "'\\''") + "'",
            lambda t: '"' + "".join("\\" + c if c in '"\\$`' else c for c in t) + '"',
            lambda t: "$'" + "".join("\\" + c if c in "'\\" else c for c in t).replace("\n", "\\n") + "'",
            lambda t: "".join(c if c.isalnum() else f"'{c}'" if c != "'" else "\\'" for c in t) or "''",
            lambda t: "$'" + "".join(f"\\x{ord(c):02x}" if ord(c) < 128 else c for c in t) + "'",
        ]
        if "\n" not in text:
            ways.append(lambda t: "".join(c if c.isalnum() else "\\" + c for c in t) or "''")
        return self.dice.choice(ways)(text)

    def canary(self) -> str:
        """The name of the canary, in a spelling that a shell makes a name of."""
        spelling = self.pick(
            *[CANARY] * 12, "'pwn'", '"pwn"', "\\pwn", "p\\wn", "p'w'n", 'p"w"n', "p''wn", "$'pwn'", "$'\\x70wn'", "$'\\160wn'",
            "$'p\\u0077n'", "p\\\nwn", "\\\npwn", '$"pwn"', "p$'w'n", "$(echo pwn)", "`echo pwn`", "${x:-pwn}", "{pwn,}", "p$@wn",
            "$x pwn", "p${x}wn", "$'p'wn", "pw$'\\156'", '"p"\'w\'n', "\"$(echo p)\"wn", "p\\\n\\\nwn", "<a pwn", "2>&1 pwn", "a=1 pwn",
            ">o pwn", "a=$x b+=2 pwn", "a=(x y) pwn", "! pwn", "time pwn", "time -p pwn", "coproc pwn", "$'p''wn'", "-n pwn",
        )  # fmt: skip
        return spelling + self.pick("", "", "", " x", " -rf x", " 'a b'", " >/dev/null", " # c")

    def harmless(self) -> str:
        return self.any_of(HARMLESS)

    # --- scripts ----------------------------------------------------------------------------------------

    def script(self, depth: int) -> str:
        """Text that a shell reads: commands in lists, and what holds them."""
        parts = [self.command(depth)]
        for _ in range(self.dice.choice((0, 0, 0, 1, 1, 2))):
            if parts[-1].endswith("\n"):
                parts.append(self.pick("", " ", "\n"))
            else:
                parts += [self.any_of(BLANKS), self.any_of(OPERATORS), self.any_of(BLANKS)]
            parts.append(self.command(depth) if self.dice.random() < 0.5 else self.harmless())
        if self.dice.random() < 0.1:
            parts += [self.pick(" ", "\n", ""), self.any_of(COMMENTS)]
        return "".join(parts)

    def command(self, depth: int) -> str:
        if depth <= 0:
            return self.canary()
        chance = self.dice.random()
        inner = self.script(depth - 1) if self.dice.random() < 0.6 else self.canary()
        if chance < 0.2:
            return self.in_words(inner)
        if chance < 0.45:
            return self.in_flow(inner)
        if chance < 0.75:
            return self.in_wrapper(self.simple(depth - 1))
        return self.in_text(inner)

    def simple(self, depth: int) -> str:
        """One command that a wrapper can be put in front of."""
        if depth <= 0 or self.dice.random() < 0.5:
            return self.pick(
                "pwn", "pwn", "'pwn'", "p\\wn", '"pwn" x', "pwn >/dev/null", "$'pwn'", "p$'w'n", "pwn 'a b'"
            )
        if self.dice.random() < 0.5:
            return self.in_wrapper(self.simple(depth - 1))
        return f"{self.pick('sh', 'bash', 'dash')} {self.pick('-c', '-ec', '-c --', '-uc', '-c -e')} {self.quoted(self.script(depth - 1))}"

    def in_words(self, inner: str) -> str:
        """A substitution among the words of a harmless command."""
        back = "`" + inner.replace("\\", "\\\\").replace("`", "\\`") + "`"
        spelled = self.pick(
            f"$({inner})", f"$( {inner} )", f'"$({inner})"', f'"a $({inner}) b"', back, f'"{back}"' if '"' not in inner else back,
            f"<({inner})", f">({inner})", f"${{x:-$({inner})}}", f'"${{x:-$({inner})}}"', f"$((1+$({inner}\n)))", f"a$({inner})b",
            f"${{x:=`{CANARY}`}}", f"{{a,$({inner})}}", f"$({inner}\n)",
        )  # fmt: skip
        return self.pick(
            f"echo {spelled}", f"ls a {spelled} b", f"x={spelled}", f"x={spelled} ls", f"export x={spelled}", f"cat <<< {spelled}",
            f"local x={spelled}", f"a=(1 {spelled})", f"[ -n {spelled} ]", f"[[ -n {spelled} ]]", f"for i in {spelled}; do ls; done",
            f"case {spelled} in *) ls;; esac", f"ls > {spelled}", f": {spelled}", f"cat <<E\n{spelled}\nE\n", f"cat <<E | cat\nx {spelled}\nE\n",
            f"cat <<-E\n\t{spelled}\n\tE\n", f"cat <<E; ls\n $x {spelled}\nE\n",
        )  # fmt: skip

    def in_flow(self, inner: str) -> str:
        return self.pick(
            f"if true; then {inner}\nfi", f"if {inner}\nthen ls; fi", f"if false; then ls; else {inner}\nfi", f"for i in 1; do {inner}\ndone",
            f"while {inner}\nfalse; do :; done", f"until {inner}\ntrue; do :; done", f"{{ {inner}\n}}", f"({inner}\n)", f"( {inner}\n) >/dev/null",
            f"f() {{ {inner}\n}}; f", f"function f {{ {inner}\n}}\nf", f"case x in x) {inner}\n;; esac", f"case x in (a) ls;; *) {inner}\n;; esac",
            f"true && {{ {inner}\n}}", f"! {inner}", f"f() ({inner}\n); f a", f"for ((i=0;i<1;i++)); do {inner}\ndone", f"ls | {{ {inner}\n}}",
            f"{{ {inner}\n}} 2>&1 | cat", f"if [ -f a ]; then {inner}\nfi", f"if [[ -f a && 1 -lt 2 ]]; then {inner}\nfi", f"ls # it's\n{inner}\n# it's",
            f"while read x; do {inner}\ndone < a", f"select i in 1; do {inner}\nbreak; done <<< 1", f"cat <<1\n1\n{inner}", f"cat <<'E'\n$(x) `\nE\n{inner}",
            f"cat <<E\n'\nE\n{inner}", f'cat <<"E"\n"\nE\n{inner}\n', f"cat <<\\E\n`\nE\n{inner}", f"cat <<-E\n\tx '\n\tE\n{inner}", f"cat <<E1 <<E2\n'\nE1\n'\nE2\n{inner}",
            f"cat <<E; {inner}\n'\nE\n", f"cat <<E && ls |\n\"\nE\n{inner}", f"ls; #'\n{inner}", f"echo '#' ; {inner}", f"echo \"#'\"; {inner}",
            f"ls a\\\n#; {inner}", f"ls;</dev/null {inner}", f"ls&&<a {inner}", f"ls\n>/dev/null {inner}", f"echo ${{x#'}}\n{inner}", f"echo ${{#x}} ; {inner}",
            f"echo $(( 1 # 2 ))\n{inner}", f"coproc {{ {inner}\n}}", f"time {{ {inner}\n}}", f"((1)) && {inner}", f"a=( # '\n1 )\n{inner}",
        )  # fmt: skip

    def in_wrapper(self, inner: str) -> str:
        """A program that runs the words behind its own."""
        return self.pick(
            f"env {inner}", f"env -i PATH=$PATH {inner}", f"env A=1 B=2 {inner}", f"env -u A {inner}", f"nice {inner}", f"nice -n 5 {inner}", f"nice -5 {inner}",
            f"nohup {inner}", f"timeout 5 {inner}", f"timeout -k 1 -s KILL 5s {inner}", f"timeout --foreground 5 {inner}", f"setsid -w {inner}", f"setsid {inner}",
            f"stdbuf -oL {inner}", f"stdbuf -o 0 -e 0 {inner}", f"echo x | xargs {inner}", f"echo x | xargs -n 1 {inner}", f"echo x | xargs -I{{}} {inner}",
            f"echo x | xargs -I % -P 2 {inner}", f"xargs -a b {inner}", f"find . -maxdepth 0 -exec {inner} \\;", f"find a -exec ls {{}} \\; -exec {inner} ';'",
            f"find a -execdir {inner} {{}} +", f"find a -ok ls \\; -o -exec {inner} {{}} \\;", f"command {inner}", f"command -p {inner}", f"exec {inner}", f"exec -a x {inner}",
            f"flock a {inner}", f"flock -n a {inner}", f"ionice -c 3 {inner}", f"chrt -o 0 {inner}", f"taskset 1 {inner}", f"time {inner}", f"/usr/bin/env {inner}",
            f"eval {inner}", f"builtin command {inner}", f"coproc {inner}", f"env -- {inner}", f"nice -- {inner}", f"timeout -- 5 {inner}", f"prlimit --nofile=64 {inner}",
            f"env --ignore-environment PATH=$PATH {inner}", f"env -C . {inner}", f"\\env {inner}", f"'env' {inner}", f"xargs --arg-file=b {inner}", f"xargs -t {inner} < b",
            f"awk 'BEGIN{{system(\"{CANARY}\")}}'", f"jobs -x {inner}", f"e\\\nnv {inner}", f"env A='b c' {inner}", f"strace -o /dev/null {inner}", f"unshare -r {inner}",
        )  # fmt: skip

    def in_text(self, inner: str) -> str:
        """A string that is run."""
        text, name = self.quoted(inner), self.pick("sh", "bash", "dash", "/bin/sh", "'bash'")
        subscript = self.quoted(f"a[$({inner}\n)]")
        return self.pick(
            f"{name} -c {text}", f"{name} -ec {text}", f"bash -lc {text}", f"bash -o pipefail -c {text}", f"bash -c -- {text} x", f"bash --norc -c {text}", f"bash -c -e {text}",
            f"eval {text}", f"eval eval {self.quoted(text)}", f"trap {text} EXIT", f"trap -- {text} 0", f"bash <<< {text}", f"sh <<E\n{inner}\nE\n", f"bash <<'E'\n{inner}\nE\n",
            f"bash -s <<-'E'\n{inner}\nE\n", f"echo {text} | sh", f"echo {text} | bash -s", f"printf %s {text} | bash", f"cat <<'E' | sh\n{inner}\nE\n", f"env -S {text}",
            f"env -S{text}", f"env --split-string={text}", f"find a -exec sh -c {text} \\;", f"echo x | xargs sh -c {text}", f"echo {text} | xargs -I{{}} sh -c '{{}}'",
            f"echo {text} | xargs -0 sh -c", f"flock a -c {text}", f"script -qc {text} /dev/null", f"timeout 5 sh -c {text}", f"nohup sh -c {text}",
            f"x={text}; $x", f"x={text}; eval \"$x\"", f"x={text}; sh -c \"$x\"", f"{text}", f"source <(echo {text})", f". /dev/stdin <<< {text}", f"bash <(echo {text})",
            f"echo {text} > o; sh o", f"echo {text} > o && . ./o", f"alias x={text}", f"shopt -s expand_aliases\nalias x={text}\nx", f"f() {{ \"$@\"; }}; f {inner}",
            f"sh -c '\"$@\"' x {inner}", f"sh -c '$0' {text}", f"bash -c 'eval \"$1\"' x {text}", f"set -- {text}; $1", f"command eval {text}", f"builtin eval {text}",
            f"test -v {subscript}", f"[ -v {subscript} ]", f"[[ -v {subscript} ]]", f"printf -v {subscript} x", f"let {subscript}", f"declare -i x={subscript}", f"unset {subscript}",
            f"read {subscript} <<< x", f"[[ {subscript} -eq 0 ]]", f"x={subscript}; echo $((x))", f"x={subscript}; ((x))", f"x={subscript}; echo ${{y:x}}", f"x={subscript}; echo ${{!x}}",
            f"x={self.quoted(f'$({inner})')}; echo ${{x@P}}", f"export {subscript}=1", f"mapfile -C {self.quoted(inner + ' #')} -c 1 x < b", f"compgen -C {self.quoted(inner + ' #')} x",
            f"compgen -W {self.quoted(f'$({inner})')} x", f"PS4={self.quoted(f'$({inner})')}; set -x; ls", f"BASH_ENV=<(echo {text}) bash -c ls", f"a={text} bash -c '$a'",
            f"f() {{ {inner}\n}}; export -f f; bash -c f", f"command_not_found_handle() {{ {inner}\n}}; nosuch", f"trap {text} DEBUG; ls", f"trap {text} ERR; false", f"exec 3<<<{text}; bash /dev/fd/3",
            f"{{ bash; }} <<< {text}", f"echo {text} | {{ cat | sh; }}", f"echo {text} | (cd .; bash)", f"echo {text} | tee o | sh", f"awk {self.quoted(f'BEGIN{{system({json_text(inner)})}}')}",
            f"sed {self.quoted('1e ' + inner.splitlines()[0])} a", f"sed -n {self.quoted('s/.*/' + CANARY + '/e')} a", f"perl -e {self.quoted(f'system({json_text(inner)})')}", f"git -c alias.x={self.quoted('!' + inner)} x",
            f"sort --compress-program={CANARY} -S 1k a a", f"tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec={text} a", f"tar cf o a; tar -xf o --to-command={text}", f"tar -I {text} -cf o a",
            f"split --filter={text} a", f"hash -p {CANARY} ls; ls", f"ls() {{ {inner}\n}}; ls", f"xargs -I @ sh -c {self.quoted('@; ' + inner)} < b", f"coproc x {{ {inner}\n}}", f"exec bash -c {text}", f"RANDOM={subscript}", f"for OPTIND in {subscript}; do ls; done", f"echo >& {self.quoted(f'$({inner})')}", f"exec {{a[{self.quoted(f'$({inner})')}]}}>o",
            f"GIT_PAGER={text} git log", f"nice bash -c {text} & wait", f"cd . && eval {text}", f"bash -c {text} ; ls", f"if eval {text}; then ls; fi", f"$(echo {text})", f"`echo {CANARY}`", "x=p; ${x}wn", f"${{x:-{CANARY}}}",
            f"read x <<< {text}; $x", f"while read x; do $x; done <<< {text}", f"for i in {text}; do $i; done", f"IFS=_; x=_{CANARY}; $x", f"sh -c \"{inner.replace(chr(34), '')}\"", f"echo 'a[$({CANARY})]' | {{ read x; ((x)); }}",
        )  # fmt: skip


def json_text(text: str) -> str:
    """As a string of awk and perl."""
    escaped = "".join("\\" + c if c in '"\\$@' else c for c in text)
    return '"' + escaped.replace("\n", "\\n") + '"'
