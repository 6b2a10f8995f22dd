"""Words that software people use for the same thing; a question in one finds a record in another.

A synonym counts for less than the word itself (see `ranking`). Groups are broad on purpose: what one writes in a
hurry and asks for later differs by habit, not by meaning.
"""

from __future__ import annotations

from memlite.search.words import stem

_GROUPS = """
fix repair solve resolve mend patch correct cure workaround
bug defect issue problem fault glitch flaw
error failure exception crash failed panic
warning complaint nag alert lint
delete remove drop discard erase purge clear unlink
add create introduce new insert append
change modify update edit alter adjust tweak
rename name renamed
replace swap substitute exchange
move relocate migrate transfer
config configuration settings options preferences
environment env variable
credential token secret password key apikey
encrypt cipher hash sign
login signin authenticate authentication auth
permission access authorization role forbidden
user person operator customer account member
test spec check verify assertion
flaky intermittent unstable random
fixture seed sample example mock stub fake
speed performance fast slow latency quick
optimize tune accelerate
cache memoize buffer
database db sql sqlite postgres mysql
schema table column migration
query search lookup find filter
index catalogue
save persist store write record
load read fetch get retrieve
send post push publish emit
receive accept consume
request call invocation
response reply answer result
endpoint route api url path
server backend service daemon worker
client frontend browser
page view screen dialog modal window
button control widget
banner notification message toast flash popup
style css theme color layout
show display render print
hide conceal suppress
annotation note comment remark
background async job queue deferred task worker
schedule cron timer periodic
parallel concurrent simultaneous thread
race deadlock lock mutex
wait sleep delay pause
timeout expire expiry ttl
hang stuck freeze block
retry backoff repeat again attempt
limit bound cap maximum quota throttle
trace tracing span telemetry observability monitoring metrics
log logging logs output
debug diagnose investigate inspect
deploy release ship publish rollout
version tag revision
dependency package library module gem crate
install setup bootstrap provision
upgrade bump update
build compile rebuild recompile
clean fresh scratch stale
docs documentation manual readme guide
function method procedure helper routine
class struct type object
variable field attribute property
argument parameter flag option
array list collection sequence
count number amount length size
empty blank missing absent none null
duplicate copy repeated clone
merge combine join unify
split separate extract divide
refactor cleanup restructure simplify tidy
share reuse common
abstract generic general
temporary ephemeral throwaway transient disposable
permanent durable persistent
ignore skip bypass disable
enable activate turn
allow permit let tolerate
reject deny refuse forbid
unknown unrecognized unexpected unsupported
strict rigid exact
flexible lenient tolerant loose
validate check sanitize
parse decode read interpret
serialize encode format marshal
convert transform translate map
close finish complete end wrap done
open start launch begin
stop kill terminate shutdown quit
restart reload reboot
decide decision choose chose chosen pick select
plan design approach strategy
reason why because rationale
alternative option choice variant
postpone defer later followup
todo remaining left pending unfinished
hook callback handler listener
event signal trigger
command cli shell terminal console
script program tool
directory folder path
file document
line row entry
header footer
commit revision changeset
branch fork
pull pr review
conflict clash collision
revert undo rollback restore
analyzer analyser linter checker dialyzer mypy
compiler interpreter
wrong incorrect invalid bad
right correct valid
safe secure protected
leak exposure spill
attack exploit vulnerability
network connection socket
port address host
proxy gateway
memory ram heap
disk storage drive
image picture screenshot photo
date time timestamp moment
timezone tz utc
currency money price cost
order sequence ranking sort
session conversation chat
prompt question ask
model llm ai
vendor provider supplier
link reference url connect
parent ancestor root
child descendant nested
inherit propagate pass carry
crash segfault abort
upload download transfer
import export
print output emit
mobile phone ios android
email mail
photo picture
car vehicle
kid child son daughter
job work career
house home apartment
trip travel vacation holiday
movie film
book novel
buy purchase
friend buddy
doctor physician
sick ill unwell
happy glad pleased
color colour
license licence
behavior behaviour
center centre
initialize initialise
serialize serialise
normalize normalise
optimize optimise
organize organise
analyze analyse
canceled cancelled
labeled labelled
modeling modelling
catalog catalogue
begin began begun
bind bound
break broke broken
bring brought
build built
catch caught
draw drew drawn
feed fed
find found
forget forgot forgotten
freeze froze frozen
get got
give gave given
hang hung
hide hid hidden
hold held
keep kept
lead led
leave left
lose lost
make made
mean meant
overwrite overwrote overwritten
rebuild rebuilt
rewrite rewrote rewritten
run ran
see saw seen
send sent
shrink shrank shrunk
speak spoke spoken
spend spent
stick stuck
take took taken
teach taught
tell told
think thought
throw threw thrown
understand understood
wake woke woken
write wrote written
"""


def _table() -> dict[str, set[str]]:
    table: dict[str, set[str]] = {}
    for line in _GROUPS.splitlines():
        group = line.split()
        for word in group:
            table.setdefault(stem(word), set()).update(other for other in group if other != word)
    return table


_TABLE = _table()


def of(term: str) -> list[str]:
    """The synonyms of `term`, in alphabetical order."""
    return sorted(_TABLE.get(stem(term), ()))
