"""WebFetch: read a page of the web with a question in mind."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from clew.agent.shell_output import plain
from clew.agent.tool import Outcome, Reach
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import failed
from clew.agent.web_page import MOST_BYTES, SECONDS, NoPageError, fetch, parse_address
from clew.agent.web_text import page_text
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from clew.agent.tool import Work
    from clew.agent.web_page import Page

_MOST_TEXT: Final = 100_000
"""Characters of a page that are read: about what a small model takes at once."""

_DESCRIPTION: Final = """\
Fetches a page of the web, turns it into text and answers the prompt from it, by a small model.

- `url` is an http or https address on the public network, `prompt` says what is wanted from the page.
- A page that sends to another host is not followed: the new address is returned, to be fetched by another\
 call.
- Pages behind a login cannot be read. Pictures, archives and other files that are no text are not fetched."""


class WebFetch:
    """Fetches a page, and has a model say what is in it.

    `ask_model` is given the prompt and the page's text, which is a stranger's; its answer is the result.
    """

    name = "WebFetch"
    description = _DESCRIPTION

    def __init__(
        self,
        ask_model: Callable[[str, str], str],
        *,
        private_hosts: Collection[str] = (),
        user_agent: str = "clew",
        most: int = MOST_BYTES,
        seconds: float = SECONDS,
    ) -> None:
        self._ask_model = ask_model
        self._private_hosts = frozenset(private_hosts)
        self._user_agent = user_agent
        self._most, self._seconds = most, seconds

    @property
    def schema(self) -> Mapping[str, object]:
        """What its input looks like."""
        return {
            "type": "object",
            "properties": {
                "url": {"type": "string", "format": "uri", "description": "The page to fetch"},
                "prompt": {"type": "string", "description": "What is wanted from the page"},
            },
            "required": ["url", "prompt"],
            "additionalProperties": False,
        }

    def is_parallel(self, given: Mapping[str, object]) -> bool:  # noqa: ARG002
        """Say that it changes nothing."""
        return True

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:  # noqa: ARG002
        """Say which host it would ask."""
        url = given.get("url")
        try:
            host = parse_address(url).hostname if isinstance(url, str) else None
        except NoPageError:
            host = None  # it will not be fetched
        return Reach(domain=host or "")

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Fetch it and ask."""
        asked = Given(self.name, given, self.schema)
        url, prompt = asked.text("url"), asked.text("prompt")
        if asked.refusal is not None:
            return asked.refusal
        started = time.monotonic()
        try:
            page = fetch(
                url,
                cancel=work.cancel,
                private_hosts=self._private_hosts,
                user_agent=self._user_agent,
                most=self._most,
                seconds=self._seconds,
            )
            result = self._answer(page, prompt)
        except NoPageError as error:
            return failed(str(error))
        except ClewError as error:
            return failed(f"The page was fetched, but no model could be asked about it: {error.message}")
        structured = {
            "bytes": len(page.body),
            "code": page.status,
            "codeText": page.reason,
            "result": result,
            "durationMs": round((time.monotonic() - started) * 1000),
            "url": url,
        }
        return Outcome(result, structured)

    def _answer(self, page: Page, prompt: str) -> str:
        if page.leads_to is not None:
            return (
                f"The page redirects to another host, which was not followed ({page.status} {page.reason})."
                f"\n\nFrom: {page.address}\nTo: {page.leads_to}\n\n"
                "To read it there, call WebFetch again with the new URL and the same prompt."
            )
        if page.status >= 400:
            raise NoPageError(f"Request failed with status code {page.status}")
        text = page_text(page.body, page.content_type, address=page.address)
        if text is None:
            kind = page.content_type.partition(";")[0].strip() or "no known kind"
            raise NoPageError(f"{page.address} is of the type {plain(kind)[:100]}, which is not text")
        text = plain(text)
        if len(text) > _MOST_TEXT or page.is_cut:
            text = text[:_MOST_TEXT] + "\n\n[the page goes on; the rest was left out]"
        return self._ask_model(prompt, text)
