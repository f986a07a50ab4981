"""Filler text that looks like what sessions hold, ready to be pasted between the quotes of a JSON string.

Each pool is a few megabytes made once from a seed and already escaped, and a text is a slice of it: copying
is fast, encoding every line anew is not. Slices begin and end at spaces, and no JSON escape holds a space, so
none is cut in two.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

_PLAIN = """
the a of to and in is for on with as by at from that this it be are was will not have can we when then which
function module cache parser index session branch thread signal handler buffer queue worker socket request
response header token column schema table record cursor offset digest bucket window layout render widget theme
test fixture assert failure error warning timeout retry commit merge rebase diff patch release version deploy
cluster node config option default path folder file line byte string number value key list tree graph edge
leaf root parent child first last next previous open close read write append truncate rename delete
copy move check because
although instead perhaps before after while until however therefore simple careful quick slow small
"""
_NAMES = (
    "alpha bravo cedar delta ember flint grove haven inlet jetty knoll larch maple north orbit pines quill"
)
_CJK = """
会话 文件 测试 失败 修复 缓存 索引 分支 提交 窗口 请求 响应 函数 模块 配置 路径 线程 队列 日志 错误
セッション ファイル テスト 修正 検索 設定 関数 接続 削除 追加 確認 実行 結果 変更
세션 파일 오류 수정 검색 설정 함수 연결 삭제 추가 확인 실행 결과 변경
"""
WORDS, NAMES, CJK_WORDS = _PLAIN.split(), _NAMES.split(), _CJK.split()


@dataclass(frozen=True, slots=True)
class Pool:
    """One long escaped text to cut slices from."""

    text: str

    def cut(self, at: float, length: int) -> str:
        """A slice of about `length` characters; `at`, from 0 up to 1, says where in the pool it starts."""
        text = self.text
        length = min(length, len(text) // 2)
        # No blank is further than 4,096 characters from the next.
        start = text.find(" ", int(at * (len(text) - length - 8192))) + 1
        return text[start : text.find(" ", start + length)]


@dataclass(frozen=True, slots=True)
class Pools:
    """The kinds of text a session holds."""

    prose: Pool
    code: Pool
    output: Pool
    cjk: Pool
    base64: str
    """An alphabet soup for images and signatures; cut anywhere."""


def _escaped(raw: str) -> Pool:
    return Pool(json.dumps(raw, ensure_ascii=False)[1:-1])


def _until(size: int, make: Callable[[], str]) -> str:
    parts: list[str] = []
    length = 0
    while length < size:
        parts.append(make())
        length += len(parts[-1])
    return "".join(parts)


def _prose(rng: Random, words: Sequence[str], size: int, stop: str) -> str:
    ends = (f"{stop} ", f"{stop} ", f"{stop}\n\n", ": ", "\n- ")
    return _until(
        size, lambda: " ".join(rng.choices(words, k=rng.randint(4, 18))).capitalize() + rng.choice(ends)
    )


def _code(rng: Random, size: int) -> str:
    def block() -> str:
        name, other, number = rng.choice(WORDS), rng.choice(NAMES), rng.randint(1, 999)
        match rng.randrange(5):
            case 0:
                head = f"def {name}_{other}(value: str, *, limit: int = {number}) -> str:\n"
                return f'{head}    """{other}."""\n    return value.replace("\\n", "{name}")[:limit]\n\n'
            case 1:
                return (
                    f"    if {name} is None and {other} > 0.{number}:\n        raise ValueError('{name}')\n"
                )
            case 2:
                return (
                    f'export const {other} = ({name}) => {{\n\treturn {name}?.map((x) => x + "\\t");\n}};\n'
                )
            case 3:
                return f'  "{name}": {{ "{other}": {number}, "ok": true }},\n'
            case _:
                # Text that quotes a session line: inside a string it is escaped, and nobody may count it.
                usage = f'"usage":{{"input_tokens":{number},"output_tokens": {number}}}'
                return f'{{"type":"assistant","message":{{"id":"msg_{name}",{usage}}}}}\n'

    return _until(size, block)


def _output(rng: Random, size: int) -> str:
    def line() -> str:
        name, other, number = rng.choice(WORDS), rng.choice(NAMES), rng.randint(1, 999)
        match rng.randrange(5):
            case 0:
                return f"src/{other}/{name}.py:{number}:    {name} = {other}({number})\n"
            case 1:
                return f"\x1b[32mPASSED\x1b[0m tests/{other}/test_{name}.py::test_{other}_{number} [ 42 %]\n"
            case 2:
                return f"-rw-r--r-- 1 dev dev {number:>8} Mar {number % 28 + 1:>2} 10:24 {name}-{other}.log\n"
            case 3:
                return f'{number:>6}\t    self.{name}.{other}("{other}")\n'
            case _:
                return f"[{number / 10:.3f}s] {name}: {other} \\ {rng.getrandbits(64):016x} → ok\n"

    return _until(size, line)


def make_pools(rng: Random, *, size: int = 1 << 21) -> Pools:
    """Make all pools, each of about `size` characters."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return Pools(
        prose=_escaped(_prose(rng, WORDS, size, ".")),
        code=_escaped(_code(rng, size)),
        output=_escaped(_output(rng, size)),
        cjk=_escaped(_prose(rng, CJK_WORDS, size >> 3, "。")),
        base64="".join(rng.choices(alphabet, k=size)),
    )
