/* One run with two collections. One of them, home, serves users; the other one is idle. A switch makes the idle
 * collection equal to home and moves users to it: forward it is the cutover, backward the rollback. See README.md. */
#define OLD 0
#define NEW 1
#define MEMORIES 3
#define GONE 99
#define NOTHING 3
#define FUSE 1                  /* so many removals need no number from the operator */

/* How often each of these happens, at most. */
#ifndef WRITES
#define WRITES 2                /* users write through the deployed version */
#endif
#ifndef LATE
#define LATE 1                  /* a request outlasts the freeze */
#endif
#ifndef LEAKS
#define LEAKS 1                 /* a deployment lets users write too soon */
#endif
#ifndef FORGOTTEN
#define FORGOTTEN 1             /* a program still writes to the old collection */
#endif
#ifndef DAMAGES
#define DAMAGES 1               /* a collection is emptied */
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef LIES
#define LIES 1                  /* an external action is reported as done, and is not */
#endif
#ifndef DROPS
#define DROPS 1                 /* the store confirms a write, and drops it */
#endif
#ifndef COMMANDS
#define COMMANDS 3              /* run and rollback */
#endif

mtype:phase = { copied, switching, live, switching_back, closed, aborted };
mtype:stage = { none, copy, freeze, count_removals, make_equal, compare, change_setting, deploy, prove, last_look,
                note_home, open_writes, carry_over };

/* The world */
#define at(collection, m) has[(collection) * MEMORIES + (m)]
byte has[6] = { 0, 1, 1, 0, 0, 0 };  /* the version of memory m in a collection; 0: absent */
bit frozen, version, works_on, setting;
byte writes = WRITES, late = LATE, leaks = LEAKS, forgotten = FORGOTTEN, damages = DAMAGES, kills = KILLS, lies = LIES,
     drops = DROPS, commands = COMMANDS;
byte pending = NOTHING;         /* the memory that a request in flight changes */
bit pending_on;

/* The record of the run and its checkpoints: durable */
mtype:phase phase = copied;
mtype:stage stage = none;
bit to, home;
bit served[2] = { 1, 0 };       /* users may have worked on it */
byte base[3];                   /* what both collections had when they were last equal, memory by memory */
byte cursor, counted, limit;    /* removals by this command */
byte intent = NOTHING, intended;/* what is being written */
bit intent_home;
byte shown;                     /* removals for which a command was refused */
bit as_it_was, is_final;

/* What is true, and no program sees */
byte acked[3] = { 0, 1, 1 };
byte last[3] = { 0, 1, 1 };
bit strayed[3];                 /* written past the freeze since both were equal */
bit excused[3];                 /* the operator was told, by number or by name */
bit due[3];                     /* to be found at home when the switch has ended */
byte removed;                   /* by this command, from a collection that has served */
bit emptied;

#define idle (1 - home)
#define each(m) m : 0 .. 2
#define all(condition) (condition(0) && condition(1) && condition(2))
#define same_old(m) (at(OLD, m) == base[m])
#define same_new(m) (at(NEW, m) == base[m])
#define known(m) (at(OLD, m) == acked[m] || at(NEW, m) == acked[m] || excused[m])
#define complete(m) (at(works_on, m) == acked[m] || strayed[m] || excused[m])
#define arrived(m) (!due[m] || at(home, m) == acked[m] || excused[m])
#define lacks(c, m) (base[m] != 0 && at(c, m) == 0 && at(1 - c, m) != 0)
#define lacking(c) (lacks(c, 0) + lacks(c, 1) + lacks(c, 2))
#define nothing_is_lost assert(all(known))

/* Creates, changes or deletes; no identifier is made twice. Left out: that a copy is deleted before the write is confirmed. */
#define writable(c, m) (at(c, m) != GONE && (at(c, m) == 0 && last[m] == 0 || at(c, m) != 0 && !is_being_created(c, m)))
#define is_being_created(c, m) (c == idle && m == intent && !intent_home && base[m] == 0)
inline choose(c, m) { if :: writable(c, 0) -> m = 0 :: writable(c, 1) -> m = 1 :: writable(c, 2) -> m = 2 fi }
#define any_writable(c) (writable(c, 0) || writable(c, 1) || writable(c, 2))

inline acknowledge(c, m, is_stray) {
  if :: at(c, m) != 0 -> at(c, m) = 0 :: last[m]++; at(c, m) = last[m] fi;
  acked[m] = at(c, m); excused[m] = 0; due[m] = 0;
  if :: is_stray -> strayed[m] = 1 :: else fi;
  nothing_is_lost
}

/* What only this collection had is gone. Damage to what users are on, after the last look, or no larger than users' own
 * deletions may be, cannot be told in time. */
#define present(c, m) (at(c, m) != 0)
inline empty_out(c) {
  emptied = (present(c, 0) + present(c, 1) + present(c, 2) > FUSE);
  for (each(m)) {
    if
    :: present(c, m) && at(c, m) == acked[m] && (!emptied || at(1 - c, m) != acked[m] || c == home || stage == note_home) -> excused[m] = 1
    :: else
    fi;
    at(c, m) = 0
  }
  emptied = 1
}

active proctype world() {
  byte m;
end: do
  :: atomic { !frozen && writes > 0 && any_writable(works_on) -> writes--;
       choose(works_on, m); acknowledge(works_on, m, works_on != home); m = 0 }
  :: atomic { !frozen && late > 0 && pending == NOTHING && any_writable(works_on) -> late--;
       choose(works_on, pending); pending_on = works_on }
  :: atomic { pending != NOTHING -> m = pending; pending = NOTHING;
       if :: writable(pending_on, m) -> acknowledge(pending_on, m, 1) :: else fi; pending_on = 0; m = 0 }
  :: atomic { forgotten > 0 && home == NEW && any_writable(OLD) -> forgotten--;
       choose(OLD, m); acknowledge(OLD, m, 1); m = 0 }
  :: atomic { damages > 0 && works_on == NEW && at(NEW, 0) != GONE -> damages--; empty_out(NEW); m = 0 }
  :: atomic { damages > 0 && home == NEW && at(OLD, 0) != GONE -> damages--; empty_out(OLD); m = 0 }
  od
}

/* Between any two actions; the command is then repeated, or another one given. */
#define may_be_killed if :: kills > 0 -> kills--; goto resume :: true fi
#define save(next) stage = next; cursor = 0
#define forget_intent intent = NOTHING; intended = 0; intent_home = 0

inline tell(m) { if :: acked[m] != at(home, m) -> excused[m] = 1 :: else fi }

/* Both versions are kept and named: right only where somebody wrote past the freeze. */
inline report(m) { assert(strayed[m] || emptied); tell(m) }

inline poorer(c, m) {
  if
  :: served[c] -> removed++; assert(removed <= limit); if :: emptied -> excused[m] = 1 :: else fi
  :: else
  fi
}

/* Before the removal: a step that is killed in between counts twice rather than never. */
inline count_removal(c, value) {
  if
  :: served[c] && value == 0 -> counted++;
#ifndef NO_FUSE
     if :: counted > limit -> shown = counted; goto failed :: else fi
#endif
  :: else
  fi
}

/* What an earlier walk was writing: whether it is there can be seen, but for a creation that users have deleted since. */
inline settle() {
  if
  :: intent != NOTHING && !intent_home && at(idle, intent) == intended -> base[intent] = intended
  :: intent != NOTHING && intent_home && at(home, intent) == intended -> base[intent] = intended
#ifndef NO_INTENT
  :: intent != NOTHING && intent_home && at(home, intent) != intended && (at(home, intent) != base[intent] || base[intent] == 0) ->
     report(intent); base[intent] = intended
#endif
  :: else
  fi;
  forget_intent
}

/* The setting is read when the version starts. */
inline deploy_version() {
  atomic {
    if
    :: version = to; works_on = setting; if :: leaks > 0 -> leaks--; frozen = 0 :: true -> frozen = 1 fi
    :: lies > 0 -> lies--
    fi
  }
  frozen = 1
}

active proctype command() {
  byte u, h, i, b;
  bit restores;                 /* the idle collection was damaged: what it lacks nobody has deleted */

rest:
end: atomic {                   /* the operator's commands, in any order */
    u = 0; removed = 0; counted = 0; as_it_was = 0; limit = FUSE;
    if
    :: phase == copied && !is_final && commands > 0 -> commands--; to = NEW; save(copy);
       if :: shown > 0 -> limit = shown :: true fi; shown = 0
    :: phase == live && commands > 0 -> commands--; to = OLD; phase = switching_back; save(freeze);
       if :: shown > 0 -> limit = shown :: shown > 0 -> as_it_was = 1 :: true fi; shown = 0
    :: phase == live && emptied && shown > 0 -> shown = 0;                      /* the operator repairs it */
       for (each(u)) { if :: excused[u] -> at(NEW, u) = acked[u]; excused[u] = 0 :: else fi } u = 0; goto rest
    :: phase == copied -> phase = aborted;
#ifdef ABORT_REMOVES_ALL
       for (each(u)) { at(NEW, u) = GONE } u = 0; nothing_is_lost;
#else
       if :: !served[NEW] -> for (each(u)) { at(NEW, u) = GONE } u = 0; nothing_is_lost :: else fi;
#endif
       goto over
    :: phase == live -> phase = closed;                                        /* retention is over */
#ifndef NO_LOOK_BEFORE_REMOVAL
       if :: all(same_old) -> skip :: else -> goto over fi;
#endif
       for (each(u)) { at(OLD, u) = GONE } u = 0; nothing_is_lost; goto over
    fi
  }

resume:
  atomic {
    u = 0; h = 0; i = 0; b = 0; restores = 0;
    if
    :: to != home && stage != copy -> goto failed                            /* rollback, or the deadline */
    :: stage == copy -> save(none); goto rest
    :: true
    fi
  }

continue:
  if
  :: stage == copy || stage == make_equal || stage == carry_over -> goto walk

  :: stage == freeze ->
     atomic {
       if :: to == NEW -> phase = switching :: else fi;
       if :: frozen = 1 :: lies > 0 -> lies-- fi
     }
     may_be_killed;
     atomic {
       if
#ifndef NO_FREEZE_PROOF
       :: !frozen -> goto failed
#endif
       :: else -> if :: as_it_was -> save(change_setting) :: else -> save(count_removals) fi
       fi
     }

  :: stage == count_removals ->
     atomic {
#ifndef NO_FUSE
       if
       :: served[idle] ->
          for (each(u)) { b = b + (at(home, u) == 0 && at(idle, u) != 0 && at(idle, u) == base[u]) }
          u = 0; if :: b > limit -> shown = b; goto failed :: else -> b = 0 fi
       :: else
       fi;
#endif
       save(make_equal)
     }

  :: stage == compare ->
     atomic {
#ifndef NO_COMPARISON
       if :: !all(same_old) || !all(same_new) -> save(count_removals) :: else -> save(change_setting) fi;
#else
       save(change_setting);
#endif
       for (each(u)) { if :: same_old(u) && same_new(u) && base[u] == acked[u] -> strayed[u] = 0 :: else fi } u = 0
     }

#ifdef SETTING_AFTER_DEPLOYMENT
  :: stage == change_setting -> served[to] = 1; deploy_version(); setting = to; save(prove)
#else
  :: stage == change_setting -> setting = to; served[to] = 1; may_be_killed; save(deploy)
  :: stage == deploy -> deploy_version(); may_be_killed; save(prove)
#endif

  :: stage == prove ->
     atomic {
       if
#ifndef NO_VERSION_PROOF
       :: (version != to || works_on != to) && to == home -> save(change_setting)
       :: (version != to || works_on != to) && to != home -> goto failed
#endif
       :: else -> save(last_look)
       fi
     }

  :: stage == last_look ->
     atomic {
       if
#ifndef NO_LAST_LOOK
       :: to == NEW && home == OLD && !(all(same_old) && all(same_new)) -> goto failed
       :: to == OLD && home == NEW && !as_it_was && lacking(OLD) > FUSE -> goto failed
#endif
       :: else -> save(note_home)
       fi
     }

  :: stage == note_home ->
     atomic {
       home = to;
       for (each(u)) {
         due[u] = (at(home, u) != acked[u]);
         if :: as_it_was && due[u] -> excused[u] = 1; due[u] = 0 :: else fi
       }
       u = 0; is_final = is_final || as_it_was;
       save(open_writes)
     }

  :: stage == open_writes ->
     atomic { assert(setting == home && version == home && works_on == home && all(complete)); frozen = 0 }
     may_be_killed;
#ifdef NO_SECOND_LOOK
     goto finish;
#endif
     atomic { if :: is_final -> goto finish :: else -> save(carry_over) fi }
  fi;
  may_be_killed;
  goto continue;

walk:                           /* three versions of each memory: at home, in the idle collection, and when both were equal */
  atomic { settle(); restores = (lacking(idle) > limit) }
  do
  :: atomic { cursor == MEMORIES -> break }
  :: atomic {
       cursor < MEMORIES;
       h = at(home, cursor); i = at(idle, cursor); b = base[cursor];
       if :: restores && lacks(idle, cursor) -> report(cursor); b = 0 :: else fi;
       if
       :: h == i -> base[cursor] = h; goto next
       :: h != i && i == b && stage == carry_over -> goto next              /* users have written on */
       :: h != i && i == b && stage != carry_over ->                        /* only home has changed */
          count_removal(idle, h);
          intent = cursor; intended = h
       :: h != i && i != b && h == base[cursor] ->                             /* somebody wrote to the idle collection */
          if
          :: i == 0 && counted >= limit -> report(cursor); goto next
          :: i == 0 && counted < limit -> counted++
          :: i != 0
          fi;
          intent = cursor; intended = i; intent_home = 1
       :: h != i && i != b && h != base[cursor] -> report(cursor); base[cursor] = i; goto next  /* a conflict: home stays */
       fi;
       may_be_killed
     }
     atomic {                   /* only where the memory is still as it was read */
       if
       :: intent_home && at(home, cursor) != h -> report(cursor)
       :: intent_home && at(home, cursor) == h -> at(home, cursor) = i; if :: i == 0 -> poorer(home, cursor) :: else fi
       :: !intent_home && drops > 0 -> drops--
       :: !intent_home && at(idle, cursor) == i -> at(idle, cursor) = h; if :: h == 0 -> poorer(idle, cursor) :: else fi
       :: !intent_home && at(idle, cursor) != i
       fi;
       nothing_is_lost;
       may_be_killed
     }
     atomic {                   /* read back */
       if
       :: !intent_home && at(idle, cursor) == i
       :: !intent_home && at(idle, cursor) != i -> base[cursor] = h
       :: intent_home -> base[cursor] = i
       fi;
       forget_intent;
       may_be_killed;
next:  h = 0; i = 0; b = 0; cursor++
     }
  od;
  atomic {
    restores = 0;
    if
    :: stage == copy -> save(freeze)
    :: stage == make_equal -> save(compare)
    :: stage == carry_over -> goto finish
    fi
  }
  goto continue;

finish:
  atomic {
    assert(all(arrived));
    if :: home == NEW -> phase = live :: else -> phase = copied fi;
    save(none)
  }
  goto rest;

failed:                         /* the same operation in the other direction; at home it is only repeated */
  atomic {
    u = 0; h = 0; i = 0; b = 0; restores = 0;
    if
    :: stage == copy -> save(none); goto rest
    :: else -> to = home; as_it_was = 0; save(change_setting)
    fi
  }
  goto continue;

over:
  skip
}

ltl opened { []<> !frozen }
