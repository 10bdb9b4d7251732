"""Hold that only the secret proves anything: attackers who see, keep, split and pass on every byte gain nothing."""

import itertools

import numpy as np
import pytest

from accord.executors.gangs.handshake import (
    ANSWER_SIZE,
    DIGEST_SIZE,
    GREETING_SIZE,
    NONCE_SIZE,
    PROTOCOL,
    ProofError,
    admit,
    join,
)
from accord.executors.gangs.session import HEADER_SIZE, ForgedError, Session

KEY = b"correct horse battery staple"
MARKS = {"member": b"m", "host agent": b"k"}


def replies(exchange, *received):
    """What a side of an exchange says, in order, when it is sent these; its result or error is last."""
    said = []
    try:
        words, _ = next(exchange)
        for each in received:
            said.append(words)
            words, size = exchange.send(each)
            while size == 0:
                said.append(words)
                words, size = exchange.send(b"")
    except StopIteration as end:
        return [*said, end.value]
    except (ProofError, ForgedError) as error:
        return [*said, error]
    return [*said, words]


def nonce(number):
    return bytes([number]) * NONCE_SIZE


@pytest.mark.parametrize("role", MARKS)
def test_two_ends_with_the_secret_share_keys_that_differ_by_direction(role):
    greeting = replies(admit(KEY, nonce(1)))[0]
    answer = replies(join(KEY, role, nonce(2)), greeting)[-1]
    _, verdict, (found, at_listener) = replies(admit(KEY, nonce(1)), answer)
    at_joiner = replies(join(KEY, role, nonce(2)), greeting, verdict)[-1]
    assert found == role
    assert (len(greeting), len(answer), len(verdict)) == (GREETING_SIZE, ANSWER_SIZE, DIGEST_SIZE)
    assert max(GREETING_SIZE, ANSWER_SIZE, DIGEST_SIZE) < 100
    assert at_joiner.sending == at_listener.receiving != at_joiner.receiving == at_listener.sending
    assert KEY not in greeting + answer + verdict


@pytest.mark.parametrize(("listener", "joiner"), [(KEY, b"another"), (b"another", KEY), (KEY, KEY + b" ")])
def test_two_ends_with_different_secrets_both_learn_it(listener, joiner):
    greeting = replies(admit(listener, nonce(1)))[0]
    answer = replies(join(joiner, "member", nonce(2)), greeting)[-1]
    *_, refusal, at_listener = replies(admit(listener, nonce(1)), answer)
    at_joiner = replies(join(joiner, "member", nonce(2)), greeting, refusal)[-1]
    for error in (at_listener, at_joiner):
        assert isinstance(error, ProofError)
        assert "did not prove that it knows the secret" in str(error)


# A process without the secret, between any two of those that have it


class Between:
    """A process without the secret between two listeners and two joiners, that knows every byte they have said.

    It cannot make a proof, and it can put anything that it has seen where anything else belongs.
    """

    def __init__(self, roles):
        self.listeners = {nonce(1): None, nonce(2): None}  # by what they greet with: whom they have admitted
        self.roles = {nonce(3 + number): role for number, role in enumerate(roles)}
        self.greeted = {}  # the joiners that have answered: by what they were greeted with
        self.answers = {}
        self.known = [bytes(NONCE_SIZE), *self.listeners]

    def greet(self, joiner, content):
        answer = replies(join(KEY, self.roles[joiner], joiner), PROTOCOL + content)[-1]
        self.greeted[joiner], self.answers[joiner] = content, answer
        self.known += [answer[1 : 1 + NONCE_SIZE], answer[1 + NONCE_SIZE :]]

    def try_all_answers(self):
        """Every answer to every listener; it may admit only a joiner that has answered its greeting, in its role."""
        count = 0
        for mark, first, second in itertools.product(MARKS.values(), tuple(self.known), tuple(self.known)):
            for listener in [each for each, admitted in self.listeners.items() if admitted is None]:
                count += 1
                *_, verdict, result = replies(admit(KEY, listener), mark + first + second)
                if isinstance(result, ProofError):
                    assert not any(verdict)  # a refusal tells nothing
                    continue
                assert self.greeted.get(first) == listener
                assert self.answers[first] == mark + first + second
                assert MARKS[self.roles[first]] == mark
                self.listeners[listener] = first
                self.known.append(verdict)
        return count

    def try_all_verdicts(self):
        """Every verdict to every joiner; it may believe only the listener that has admitted it."""
        count = 0
        for joiner, content in self.greeted.items():
            for verdict in self.known:
                count += 1
                result = replies(join(KEY, self.roles[joiner], joiner), PROTOCOL + content, verdict)[-1]
                if not isinstance(result, ProofError):
                    assert self.listeners.get(content) == joiner
        return count


@pytest.mark.parametrize("roles", list(itertools.product(MARKS, MARKS)), ids=" and ".join)
def test_a_listener_without_the_secret_proves_nothing_by_what_others_have_said(roles):
    """A process holds the port and passes messages from one to another, in every role and direction: none believes it.

    The criterion is that of Bellare & Rogaway (1993): a side that believes has had the same conversation, byte by byte,
    as one partner, and each side has one partner.
    """
    count = 0
    joiners = (nonce(3), nonce(4))
    for (first, second), waits in itertools.product(itertools.permutations(joiners), (False, True)):
        for at_first in range(len(Between(roles).known)):
            for at_second in itertools.count():
                between = Between(roles)
                between.greet(first, between.known[at_first])
                if not waits:
                    count += between.try_all_answers()
                if at_second == len(between.known):
                    break
                between.greet(second, between.known[at_second])
                count += between.try_all_answers() + between.try_all_verdicts()
    assert count > 10_000


# Messages after the proof


@pytest.fixture
def ends():
    """Both ends of a proven connection."""
    greeting = replies(admit(KEY, nonce(1)))[0]
    answer = replies(join(KEY, "member", nonce(2)), greeting)[-1]
    _, verdict, (_, at_listener) = replies(admit(KEY, nonce(1)), answer)
    at_joiner = replies(join(KEY, "member", nonce(2)), greeting, verdict)[-1]
    return Session(at_listener), Session(at_joiner)


def sealed(session, payload):
    before, after = session.seal(payload)
    return before + payload + after


def opened(session, stream, limit=None):
    """What a session opens of a stream, and the error that ends it; None where it waits for more."""
    found = []
    while stream:
        exchange = session.opening(limit)
        _, size = next(exchange)
        try:
            while len(stream) >= size:
                part, stream = stream[:size], stream[size:]
                _, size = exchange.send(bytearray(part))
        except StopIteration as end:
            found.append(bytes(end.value))
            continue
        except ForgedError as error:
            return found, error
        break
    return found, None


PAYLOADS = [b"", b"one", b"two" * 50_000]


def test_messages_arrive_as_they_were_sent_in_both_directions(ends):
    for there, here in itertools.permutations(ends):
        assert opened(here, b"".join(sealed(there, each) for each in PAYLOADS)) == (PAYLOADS, None)


ALTERED = {
    "repeated": lambda one, two, own: one + one,
    "left out": lambda one, two, own: two,
    "moved": lambda one, two, own: two + one,
    "sent back": lambda one, two, own: own,
    "of one's own": lambda one, two, own: bytes(len(one)),
    "cut and joined": lambda one, two, own: one[:HEADER_SIZE] + two[HEADER_SIZE:],
    "with another's size": lambda one, two, own: two[:HEADER_SIZE] + one[HEADER_SIZE:] + bytes(9),
    "shortened": lambda one, two, own: one[:-1] + two,
    "lengthened": lambda one, two, own: one + b"\0" + two,
}


@pytest.mark.parametrize("how", ALTERED)
def test_a_message_that_was_not_sent_next_is_not_opened(ends, how):
    there, here = ends
    one, two, own = sealed(there, b"a message"), sealed(there, b"another one"), sealed(here, b"a message")
    found, error = opened(here, ALTERED[how](one, two, own))
    assert found in ([], [b"a message"])
    assert "altered, repeated, left out" in str(error)


def test_a_message_with_any_bit_turned_is_not_opened(ends):
    there, here = ends
    whole = sealed(there, b"a message")
    for place, bit in itertools.product(range(len(whole)), range(8)):
        turned = bytearray(whole)
        turned[place] ^= 1 << bit
        found, error = opened(here, bytes(turned))
        assert not found
        assert isinstance(error, ForgedError)
    assert opened(here, whole) == ([b"a message"], None)


def test_a_cut_message_is_not_opened(ends):
    there, here = ends
    whole = sealed(there, b"a message")
    for size in range(len(whole)):
        assert opened(here, whole[:size]) == ([], None)  # it waits for the rest


def test_a_message_larger_than_is_due_is_refused_by_its_proven_size(ends):
    there, here = ends
    found, error = opened(here, sealed(there, bytes(11)), limit=10)
    assert not found
    assert "a message has 11 bytes, where at most 10 are due" in str(error)


def test_messages_of_one_connection_are_not_opened_in_another(ends):
    there, _ = ends
    greeting = replies(admit(KEY, nonce(5)))[0]
    answer = replies(join(KEY, "member", nonce(2)), greeting)[-1]  # and the same nonce once more
    _, _, (_, keys) = replies(admit(KEY, nonce(5)), answer)
    for part in itertools.permutations((there, Session(keys))):
        found, error = opened(part[1], sealed(part[0], b"a message"))
        assert not found
        assert isinstance(error, ForgedError)


# Noise


def noise(count):
    """Seeded frames: of any size up to 200 bytes, and those of the sizes and beginnings that are due."""
    rng = np.random.default_rng(19)
    for number in range(count):
        beginning = (b"", b"m", b"k", PROTOCOL)[number % 4]
        size = (int(rng.integers(1, 200)), GREETING_SIZE, ANSWER_SIZE, DIGEST_SIZE)[number // 4 % 4]
        yield (beginning + rng.bytes(size))[:size]


def believes(make, *received):
    """Whether a side of an exchange ends with a result when it is sent these, each cut to what it asks for."""
    exchange = make()
    _, size = next(exchange)
    try:
        for each in received:
            if len(each) < size:
                return False  # it waits for the rest
            _, size = exchange.send(each[:size])
            while size == 0:
                _, size = exchange.send(b"")
    except StopIteration:
        return True
    except (ProofError, ForgedError):
        return False
    return False


@pytest.mark.parametrize("count", [400, pytest.param(100_000, marks=pytest.mark.slow)])
def test_noise_proves_nothing_and_raises_nothing_else(ends, count):
    greeting = replies(admit(KEY, nonce(1)))[0]
    for frame in noise(count):
        assert not believes(lambda: admit(KEY, nonce(1)), frame)
        assert not believes(lambda: join(KEY, "host agent", nonce(2)), frame, frame)
        assert not believes(lambda: join(KEY, "host agent", nonce(2)), greeting, frame)
        assert not believes(ends[0].opening, frame, frame)
