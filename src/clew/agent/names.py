"""Readable names for sessions: a sort of thing that does something in some way, as the client makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ADJECTIVES: Final = _words(
    """
    amber ancient autumn azure bold brave breezy bright brisk calm candid cheerful chilly clear clever
    cobalt cosy crimson curious deft distant dusky eager early earnest fabled faint fearless fond frosty
    gentle gilded glad golden graceful happy hardy hidden honest humble ivory jolly keen kindly lively
    lofty lucid lunar mellow merry misty mossy nimble noble patient placid plain polar proud quiet rapid
    rosy rustic sandy scarlet serene silent silver simple sly snowy solar spry steady stout sunny swift
    tender tidy timid tranquil velvet vivid warm wild winding wise
    """
)
VERBS: Final = _words(
    """
    baking basking bending blooming bouncing bowing braiding carving chasing climbing coasting crossing
    dancing darting digging diving drawing dreaming drifting fishing floating flying folding gazing
    gliding glowing hiking hopping humming juggling jumping kindling knitting landing laughing leaping
    listening mending musing nodding painting pacing peering plaiting planting pondering racing reading
    resting riding ringing roaming rolling rowing running sailing searching sewing singing skating
    sketching sliding spinning sprinting steering stitching strolling swaying swimming tracing turning
    waking walking wandering waving weaving whistling winding
    """
)
NOUNS: Final = _words(
    """
    acorn alder anchor arch badger barley basin beacon bobbin bramble bridge brook canyon cedar cellar
    clover comet compass cove crane creek cricket delta dune ember falcon fern ferry finch fjord garden
    gate glacier grove gull harbour hare hazel hedge heron hill inlet island ivy jetty juniper kettle kite
    ladder lagoon lantern larch lark lighthouse linden loom maple marsh meadow mill moth needle oak
    orchard otter owl path pebble pine plover pond quarry rafter reed ridge river robin sail shore sparrow
    spindle spring stile stone swallow thicket thimble thread thrush tower trail tunnel valley willow wren
    """
)


def session_slug(random: Random) -> str:
    """Return a name such as `quiet-weaving-heron`: for people to say and to type, never to be relied upon."""
    return f"{random.choice(ADJECTIVES)}-{random.choice(VERBS)}-{random.choice(NOUNS)}"
