"""A chat in a terminal: wait for keys, signals and what happens, and draw where they have come to."""

from __future__ import annotations

import select
import signal
import time
from typing import TYPE_CHECKING, Final

from clew.faces.cli.chat.keys import Decoder, Key
from clew.faces.cli.chat.painter import Painter
from clew.faces.cli.chat.picture import frame
from clew.faces.cli.chat.pressing import Pressing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.faces.cli.chat.device import Device
    from clew.faces.cli.chat.painter import Ink
    from clew.faces.cli.chat.talk import Talk
    from clew.faces.cli.styled import Row

_FRAME: Final = 1 / 60
"""Seconds between two pictures at least; the first of a burst is drawn at once."""

_ESCAPE: Final = 0.03
"""Seconds after which an Esc is no beginning of a longer sequence."""

_TICK: Final = 0.5
"""Seconds after which a picture is drawn again in which something is counted."""

_CLOSING: Final = 15.0


class Chat:
    """A person and a session, with a terminal between them."""

    def __init__(self, device: Device, talk: Talk, ink: Ink, *, folder: str) -> None:
        self._device = device
        self._talk = talk
        self._painter = Painter(ink, device.size)
        self._pressing = Pressing(talk, folder=folder)
        self._decoder = Decoder()
        self._is_dirty = True
        self._drawn_at = 0.0
        self._pressed_at = 0.0

    def run(self) -> None:
        """Talk until the person ends it."""
        talk = self._talk
        talk.engine.start()
        try:
            while not talk.is_over:
                self._step()
        finally:
            self._draw(time.monotonic())
            talk.close(_CLOSING)
            self._device.write(self._painter.leave(self._taken()))

    def _step(self) -> None:
        now = time.monotonic()
        if self._is_dirty and now - self._drawn_at >= _FRAME:
            self._draw(now)
        ready, _, _ = select.select([self._device.input, self._device.wakes], [], [], self._patience(now))
        if self._device.wakes in ready:
            for number in self._device.heard():
                self._signalled(number)
        if self._device.input in ready:
            self._read()
        elif self._decoder.is_waiting and time.monotonic() - self._pressed_at >= _ESCAPE:
            self._press(self._decoder.late())
        now = time.monotonic()
        for one in self._talk.engine.take():
            self._is_dirty = True
            self._talk.happened(one, now)
        self._is_dirty |= self._talk.settle()
        self._is_dirty |= self._talk.is_busy and now - self._drawn_at >= _TICK

    def _patience(self, now: float) -> float:
        """Return how long nothing has to be done if nothing happens."""
        waits = [60.0]
        if self._is_dirty:
            waits.append(self._drawn_at + _FRAME - now)
        if self._decoder.is_waiting:
            waits.append(self._pressed_at + _ESCAPE - now)
        if self._talk.is_busy:
            waits.append(self._drawn_at + _TICK - now)
        return max(0.0, min(waits))

    def _read(self) -> None:
        data = self._device.read()
        if not data:  # the terminal is gone
            self._talk.is_over, self._talk.exit_code = True, 128 + signal.SIGHUP
            return
        self._pressed_at = time.monotonic()
        self._press(self._decoder.feed(data))

    def _press(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self._is_dirty = True
            match self._pressing.press(key):
                case "suspend":
                    self._suspend()
                case "clear":
                    self._device.write(self._painter.clear())
                case None:
                    pass

    def _signalled(self, number: int) -> None:
        self._is_dirty = True
        match number:
            case signal.SIGWINCH:
                self._resize()
            case signal.SIGTSTP:
                self._suspend()
            case signal.SIGCONT:
                # Stopped without having been asked: others have written below, and changed the terminal.
                self._painter.forget()
                self._device.take()
                self._resize()
            case signal.SIGINT:
                self._pressing.interrupt()
            case _:
                self._talk.is_over, self._talk.exit_code = True, 128 + number

    def _resize(self) -> None:
        size = self._device.size
        self._painter.resize(size)
        self._talk.telling.width = size[0]

    def _suspend(self) -> None:
        self._device.write(self._painter.leave(self._taken()))
        self._device.suspend()
        self._resize()

    def _taken(self) -> list[Row]:
        stays, self._talk.stays = self._talk.stays, []
        return stays

    def _draw(self, now: float) -> None:
        self._is_dirty, self._drawn_at = False, now
        painter = self._painter
        picture = frame(self._talk, now, painter.columns, painter.lines)
        self._device.write(painter.draw(self._taken(), picture))
