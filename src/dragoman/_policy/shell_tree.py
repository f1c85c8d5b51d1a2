"""A command line as the bash grammar of tree-sitter shows it: its commands, word by word.

The grammar is not bash. Where the tree and the text do not fit together, the line is `odd`, and nobody may rely on what
was found in it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from dragoman._policy.shell_plain import RESERVED
from dragoman._policy.shell_words import Word, literal, unquoted

if TYPE_CHECKING:
    from tree_sitter import Language, Node

_PASSED: Final = frozenset((
    "program", "list", "pipeline", "subshell", "compound_statement", "if_statement", "elif_clause",
    "else_clause", "while_statement", "do_group", "for_statement", "c_style_for_statement",
    "case_statement", "case_item", "function_definition", "redirected_statement", "negated_command",
    "command_substitution", "process_substitution", "variable_assignment", "variable_assignments", "array",
    "declaration_command", "unset_command", "test_command", "command", "command_name", "comment", "string",
    "concatenation", "expansion", "simple_expansion", "arithmetic_expansion", "subscript", "file_redirect",
    "heredoc_redirect", "heredoc_body", "herestring_redirect", "binary_expression", "unary_expression",
    "postfix_expression", "ternary_expression", "parenthesized_expression", "translated_string",
    "brace_expression", "word", "raw_string", "ansi_c_string", "string_content", "number", "variable_name",
    "special_variable_name", "file_descriptor", "test_operator", "regex", "heredoc_start",
    "heredoc_content", "heredoc_end", "extglob_pattern",
))  # fmt: skip
_PLAIN: Final = frozenset((
    "program", "list", "pipeline", "subshell", "command", "command_name", "comment",
    "redirected_statement", "file_redirect", "word", "raw_string", "string", "string_content",
    "concatenation", "number", "file_descriptor", "test_command", "unary_expression", "binary_expression",
    "test_operator", "extglob_pattern",
))  # fmt: skip
"""Nodes of a plain line."""
_HOLES: Final = frozenset((
    "simple_expansion", "expansion", "command_substitution", "process_substitution",
    "arithmetic_expansion",
))  # fmt: skip
_TEXTS: Final = frozenset((
    "string", "heredoc_body", "heredoc_redirect", "expansion", "extglob_pattern", "regex",
))  # fmt: skip
"""Nodes whose blanks the grammar leaves out."""
_BETWEEN: Final = {
    **dict.fromkeys(("concatenation", "command_name", "simple_expansion", "variable_assignment"), b""),
    **dict.fromkeys(("command", "file_redirect", "herestring_redirect", "redirected_statement"), b" \t"),
    **dict.fromkeys(("declaration_command", "unset_command"), b" \t"),
}
"""What may stand between the children of a node; else blanks and newlines."""
_EVALUATES: Final = frozenset((
    "arithmetic_expansion", "c_style_for_statement", "subscript", "declaration_command", "unset_command",
    "test_command", "postfix_expression", "ternary_expression",
))  # fmt: skip
_SIMPLE_EXPANSION: Final = re.compile(rb"\$\{#?\w+(?:(?::?[-+=?]|%%?|##?|/|//|\^\^?|,,?)[^@]*)?\}", re.S)
_SUBSTITUTION: Final = re.compile(rb"(?<!\\)(?:\\\\)*(?:`|\$[({\[]|[<>]\()")
_OPAQUE: Final = frozenset(
    (
        "comment",
        "heredoc_body",
        "heredoc_content",
        "heredoc_start",
        "heredoc_end",
        "`",
        "$(",
        "${",
        "$((",
        "$[",
        "<(",
        ">(",
    )
)
_STRAY: Final = frozenset(
    word.encode() for word in RESERVED - {"time", "coproc", "[[", "repeat", "nocorrect", "foreach", "end"}
)
"""Words that cannot be the name of a command: where they seem to be one, the grammar has lost its way."""
_REDIRECTS: Final = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))
_NO_FILES: Final = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "0", "1", "2", "-"))
_MOST_NODES: Final = 12_000
_COMMENT_MAY_FOLLOW: Final = b" \t\n;&|()"


class Simple(Struct):
    """One command: its words, and what it is fed."""

    words: list[Word]
    fed: list[Word] = field(default_factory=list)


class Tree(Struct):
    """What the tree shows."""

    commands: list[Simple] = field(default_factory=list)
    lines: list[Word] = field(default_factory=list)
    """Texts that are command lines in their turn: those in back quotes."""
    assigned: list[Word] = field(default_factory=list)
    """Variables that are set, with their values."""
    others: list[Word] = field(default_factory=list)
    """Words that belong to no command: values of variables, words of a loop, targets of redirections."""
    writes: list[str] = field(default_factory=list)
    """Files that it redirects into."""
    odd: bool = False
    plain: bool = True
    """There are only commands, lists, pipes and subshells in it."""
    template: bool = False
    """There is text in quotes that a shell would expand if it came to read it."""
    evaluates: bool = False
    """Something in it may expand text that stood in quotes."""


@cache
def _language() -> "Language":
    import tree_sitter  # 36 ms: only when there is a command to be judged
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


_LETTERS: Final = bytes.maketrans(bytes(range(0x80, 0x100)), b"\x01" * 0x80)
"""Every byte beyond ASCII as one that means nothing to a shell. The scanner of tree-sitter-bash 0.25.1 asks the C library
whether the character behind a `{` is a digit, which for most of Unicode reads memory that is not there: one such line
ended the process. To bash, too, they are nothing but parts of words."""


def _root(text: bytes) -> "Node":
    """The tree of a text, whose places are those of the text. A parser is made for it, since threads may not share one."""
    import tree_sitter

    return tree_sitter.Parser(_language()).parse(text.translate(_LETTERS)).root_node


def tree(text: bytes) -> Tree:
    """What the grammar makes of a line."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: bytes) -> None:
        self.text = text
        self.found = Tree()
        self.redirects: dict[int, Sequence[Node]] = {}
        """Those of a command, by its node: they may be far behind it."""

    def read(self) -> Tree:
        root = _root(self.text)
        found = self.found
        found.odd = root.has_error or self.text[: root.start_byte].strip(b" \t\n") != b""
        found.odd = found.odd or self.text[root.end_byte :].strip(b" \t\n") != b""
        if root.descendant_count > _MOST_NODES:
            found.odd = True
            return found
        waiting: list[Node] = [root]
        while waiting:
            node = waiting.pop()
            children = node.children
            self._check(node, children)
            kind = node.type
            if kind == "redirected_statement":
                self._redirected(children)
            elif kind == "command":
                self._command(children, self.redirects.get(node.id, ()))
            elif kind == "test_command":
                words = self._words(
                    [leaf for leaf in _leaves(node) if children[0].type == "[" or _is_word(leaf)]
                )
                if children[0].type == "[":
                    found.commands.append(Simple(words))
                else:
                    found.others += words
            elif kind in ("declaration_command", "unset_command"):
                found.commands.append(Simple(self._words(children)))
            elif kind == "command_substitution" and children and children[0].type == "`":
                self._back_quoted(node)
                continue
            elif kind == "heredoc_redirect":
                self._heredoc(node, children)
            elif kind == "file_redirect":
                self._target(children)
            elif kind == "variable_assignment":
                found.assigned += self._words([node])
                found.others += self._words([child for child in children[2:] if child.type != "array"])
            elif kind in ("for_statement", "array", "case_statement"):
                found.others += self._words([child for child in children if _is_word(child)])
            waiting += reversed(children)
        return found

    def _check(self, node: "Node", children: "Sequence[Node]") -> None:
        """Whether the tree leaves nothing out, and holds nothing new."""
        found, kind = self.found, node.type
        if node.is_named:
            found.plain = found.plain and kind in _PLAIN
            found.odd = found.odd or kind not in _PASSED
            if kind == "expansion":
                found.evaluates = found.evaluates or not _SIMPLE_EXPANSION.fullmatch(self._source(node))
            found.evaluates = found.evaluates or kind in _EVALUATES
        if node.is_error or node.is_missing:
            found.odd = True
        if kind == "((":
            found.evaluates = True
        elif kind == "&":
            found.plain = False
        elif kind == "comment":
            before = self.text[max(node.start_byte - 1, 0) : node.start_byte]
            found.odd = found.odd or before not in _COMMENT_MAY_FOLLOW
        if not children:
            self._check_leaf(kind, self._source(node))
        if kind in _TEXTS or not children:
            return
        allowed = _BETWEEN.get(kind, b" \t\n")
        at = node.start_byte
        for child in children:
            if child.start_byte > at and self.text[at : child.start_byte].strip(allowed):
                found.odd = True
            at = child.end_byte
        if node.end_byte > at and self.text[at : node.end_byte].strip(allowed):
            found.odd = True

    def _check_leaf(self, kind: str, source: bytes) -> None:
        """What is no tree of its own has no substitution in it."""
        if kind in ("raw_string", "ansi_c_string"):
            self.found.template = self.found.template or b"$" in source or b"`" in source
        elif kind not in _OPAQUE and _SUBSTITUTION.search(source):
            self.found.odd = True
            self.found.lines += [
                literal(text.decode(errors="replace")) for text in re.findall(rb"`([^`]+)`", source)
            ]

    def _source(self, node: "Node") -> bytes:
        return self.text[node.start_byte : node.end_byte]

    # --- words ------------------------------------------------------------------------------------------

    def _words(self, nodes: "Sequence[Node]") -> list[Word]:
        """The words that nodes make, those without a blank between them together."""
        spans: list[tuple[int, int, list[Node]]] = []
        for node in nodes:
            if spans and spans[-1][1] == node.start_byte:
                start, _, parts = spans.pop()
                spans.append((start, node.end_byte, [*parts, node]))
            else:
                spans.append((node.start_byte, node.end_byte, [node]))
        return [self._word(start, end, parts) for start, end, parts in spans]

    def _word(self, start: int, end: int, nodes: "Sequence[Node]") -> Word:
        if any(child.type == "array" for node in nodes for child in node.children):
            return Word(self.text[start:end].decode(errors="replace"), known=False, exact=False)
        holes = {hole.start_byte - start: hole.end_byte - start for node in nodes for hole in _holes(node)}
        word = unquoted(self.text[start:end], holes)
        self.found.odd = self.found.odd or word.odd
        return word

    def _redirected(self, children: "Sequence[Node]") -> None:
        """The redirections of `a && b > c` are those of b."""
        body = children[0]
        if body.type in _REDIRECTS:
            self._command((), children)
            return
        while body.type in ("list", "pipeline", "negated_command") and body.children:
            body = body.children[-1]
        if body.type == "command":
            self.redirects[body.id] = children[1:]
        elif any(self._redirect(child)[0] for child in children[1:] if child.type != "herestring_redirect"):
            self.found.odd = True

    def _command(self, children: "Sequence[Node]", redirects: "Sequence[Node]") -> None:
        words: list[Node] = []
        simple = Simple([])
        for child in (*children, *redirects):
            kind = child.type
            if kind == "variable_assignment" and not words:
                continue
            if kind == "herestring_redirect":
                simple.fed += self._words(child.children[-1:])
            elif kind in _REDIRECTS:
                extra, fed = self._redirect(child)
                words += extra
                simple.fed += fed
            elif kind == "comment":
                self.found.odd = True
            else:
                words.append(child)
        simple.words = self._words(words)
        if words and self._source(words[0]) in _STRAY:
            self.found.odd = True
        if simple.words:
            self.found.commands.append(simple)

    def _redirect(self, node: "Node") -> "tuple[list[Node], list[Word]]":
        """The words of the command that stand behind a redirection, and the text that it feeds."""
        children = node.children
        if node.type == "file_redirect":
            operator = next((at for at, child in enumerate(children) if not child.is_named), 0)
            return children[operator + 2 :], []
        words: list[Node] = []
        for child in children[2:]:
            if child.type == "file_redirect":
                words += self._redirect(child)[0]
            elif _is_word(child):
                words.append(child)
        quoted, body = self._body(node)
        return words, [_fed(body.decode(errors="replace"), quoted)]

    def _target(self, children: "Sequence[Node]") -> None:
        operator = next((at for at, child in enumerate(children) if not child.is_named), 0)
        words = self._words(children[operator + 1 : operator + 2])
        self.found.others += [word for word in words if word.text not in _NO_FILES]
        if b"&" in self._source(children[operator]):
            self.found.evaluates = True  # bash expands what stands behind `>&` twice
        if b">" in self._source(children[operator]):
            self.found.writes += [word.text for word in words]

    # --- texts ------------------------------------------------------------------------------------------

    def _back_quoted(self, node: "Node") -> None:
        """Its text loses one layer of backslashes before it is read."""
        text = self._source(node)
        closed = len(text) > 1 and text.endswith(b"`")
        self.found.odd = self.found.odd or not closed
        inner = re.sub(rb"\\([\\`$\"])", rb"\1", text[1:-1])
        self.found.lines.append(literal(inner.decode(errors="replace")))

    def _body(self, node: "Node") -> tuple[bool, bytes]:
        """Whether the delimiter of a here-document is quoted, and its text, as bash would find it."""
        start = next((child for child in node.children if child.type == "heredoc_start"), None)
        if start is None:
            self.found.odd = True
            return False, b""
        end = next((child for child in node.children if child.type == "heredoc_end"), None)
        word = self._word(start.start_byte, start.end_byte, [start])
        line_end = self.text.find(b"\n", start.end_byte)
        tabs = any(child.type == "<<-" for child in node.children)
        at = line_end + 1
        while 0 < at <= len(self.text):
            stop = self.text.find(b"\n", at)
            line = self.text[at:] if stop < 0 else self.text[at:stop]
            if (line.lstrip(b"\t") if tabs else line) == word.text.encode():
                if end is None or end.end_byte != at + len(line):
                    break
                return not (
                    word.exact and start.end_byte - start.start_byte == len(word.text.encode())
                ), self.text[line_end + 1 : at]
            if stop < 0:
                break
            at = stop + 1
        self.found.odd = True
        return False, self.text[line_end + 1 :] if line_end >= 0 else b""

    def _heredoc(self, node: "Node", children: "Sequence[Node]") -> None:
        """Checks it, and finds the commands in back quotes, which the grammar does not see there."""
        if not any(child.type == "heredoc_start" for child in children):
            self.found.odd = True
            return
        quoted, body = self._body(node)
        start = next(child for child in children if child.type == "heredoc_start")
        body_start = self.text.find(b"\n", start.end_byte)
        for child in children:
            if child.type not in ("heredoc_body", "heredoc_end") and child.end_byte > body_start >= 0:
                self.found.odd = True
        inner = [child for child in children if child.type == "heredoc_body"]
        shown = sum(len(list(_holes(child))) for child in inner)
        if quoted:
            self.found.odd = self.found.odd or shown > 0
            return
        rest = re.sub(rb"\\.", b"", body, flags=re.S)
        for text in re.findall(rb"`([^`]*)`", rest):
            self.found.lines.append(literal(text.decode(errors="replace")))
        if b"`" in body and (b"\\" in body or shown):
            self.found.odd = True
        self.found.odd = self.found.odd or len(re.findall(rb"\$[({\[]", _outer(rest, body, inner))) > 0


def _outer(rest: bytes, body: bytes, nodes: "Sequence[Node]") -> bytes:
    """The text of a here-document without the expansions that the tree shows."""
    for node in nodes:
        for hole in _holes(node):
            source = re.sub(rb"\\.", b"", hole.text or b"", flags=re.S)
            rest = rest.replace(source, b"", 1)
    return rest


def _fed(text: str, quoted: bool) -> Word:
    known = quoted or not re.search(r"[$`\\]", text)
    return Word(text=text, known=known, exact=known)


def _is_word(node: "Node") -> bool:
    return node.type in (
        "word", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation", "number", "$",
        "brace_expression", "extglob_pattern", *_HOLES,
    )  # fmt: skip


def _holes(node: "Node") -> "Iterator[Node]":
    """The outermost expansions."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type in _HOLES:
            yield node
        else:
            waiting += reversed(node.children)


def _leaves(node: "Node") -> "list[Node]":
    """The words of `[ … ]`."""
    found: list[Node] = []
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type in ("test_command", "unary_expression", "binary_expression", "parenthesized_expression"):
            waiting += reversed(node.children)
        else:
            found.append(node)
    return found
