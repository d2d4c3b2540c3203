/* The switch of a migration, to be searched by SPIN; README.md explains it. A run has two collections. One of them, home,
 * serves users; the other one is idle. A switch makes the idle one equal to home and moves users to it: forward it is the
 * cutover, backward the rollback. The names are those of lib/migration. */
#define OLD 0
#define NEW 1
#define GONE 99
#define NOTHING 3
#define DAMAGED 9               /* a version that no user has written */
#define FUSE 1                  /* so many removals need no number from the operator */

mtype:phase = { copied, switching, live, switching_back, closed, aborted };
mtype:stage = { none, copy, freeze, count_removals, make_equal, compare, change_setting, deploy, prove, last_look,
                note_home, open_writes, carry_over };

/* The world */
#define at(collection, m) has[(collection) * 3 + (m)]
byte has[6] = { 1, 1, 0, 0, 0, 0 };     /* the version of memory m in a collection; 0: absent */
bit frozen, version, works_on, setting;
/* How often each of these may happen: -D gives the numbers, check.ts has them. */
byte writes = WRITES;           /* users write through the deployed version */
byte late = LATE;               /* a request outlasts the freeze */
byte leaks = LEAKS;             /* a deployment lets users write too soon */
byte forgotten = FORGOTTEN;     /* a program still writes to the old collection */
byte damages = DAMAGES;         /* a collection is emptied, changed throughout, or removed */
byte kills = KILLS;             /* the command is killed */
byte lies = LIES;               /* an action outside is reported as done, and is not */
byte drops = DROPS;             /* the store confirms a write, and drops it */
byte commands = COMMANDS;       /* the operator gives run or rollback */
byte pending = NOTHING;         /* the memory that a request in flight changes */
bit pending_on;

/* The record of the run and its checkpoint: durable */
mtype:phase phase = copied;
mtype:stage stage = none;
bit to, home;
bit served[2] = { 1, 0 };       /* a version was deployed on it */
byte base[3], known;            /* what both collections had when they were last equal: of the first memories, so many */
bit noted[3];                   /* before a memory is created in either collection */
byte cursor, removals, limit;   /* of this command */
bit is_damaged;                 /* the standby collection was damaged: its losses and changes are no user's */
byte refused;                   /* the removals for which the last command was refused */
bit as_it_was, is_final;

/* The truth, which no program sees */
byte acked[3] = { 1, 1, 0 };    /* the last acknowledged version */
byte last[3] = { 1, 1, 0 };
bit strayed[3];                 /* written past the freeze since both were equal */
bit excused[3];                 /* the operator knows, by number or by name */
bit due[3];                     /* has to be at home when the switch has ended */
byte removed;                   /* by this command, from a collection that has served */
bit damaged;

#define idle (1 - home)
#define each(m) m : 0 .. 2
#define all(condition) (condition(0) && condition(1) && condition(2))
#define is_as_base(c, m) (m < known && at(c, m) == base[m])
#define old_is_base(m) is_as_base(OLD, m)
#define new_is_base(m) is_as_base(NEW, m)
#define kept(m) (at(OLD, m) == acked[m] || at(NEW, m) == acked[m] || excused[m])
#define shown(m) (at(works_on, m) == acked[m] || strayed[m] || excused[m])
#define arrived(m) (!due[m] || at(home, m) == acked[m] || excused[m])
#define lacks(c, m) (m < known && base[m] != 0 && at(c, m) == 0)
#define lacking(c) (lacks(c, 0) + lacks(c, 1) + lacks(c, 2))
#define has_changed(c, m) (m < known && base[m] != 0 && at(c, m) != 0 && at(c, m) != base[m] && at(1 - c, m) == base[m])
#define changed(c) (has_changed(c, 0) + has_changed(c, 1) + has_changed(c, 2))
#define in_all(m) (m < known && base[m] != 0 && at(OLD, m) != 0 && at(NEW, m) != 0)
#define nothing_is_lost assert(all(kept))

/* No identifier is made twice. Left out: a copy is deleted in the idle collection before a walk has confirmed its write. */
#define is_being_made(c, m) (c == idle && noted[m])
#define writable(c, m) (at(c, m) != GONE && (at(c, m) != 0 || last[m] == 0))
#define any_writable(c) (writable(c, 0) || writable(c, 1) || writable(c, 2))
inline choose(c, m) { if :: writable(c, 0) -> m = 0 :: writable(c, 1) -> m = 1 :: writable(c, 2) -> m = 2 fi }

/* A user creates, changes or deletes a memory, and the write is acknowledged. */
inline acknowledge(c, m, is_stray) {
  if :: at(c, m) != 0 && !is_being_made(c, m) -> at(c, m) = 0 :: last[m]++; at(c, m) = last[m] fi;
  acked[m] = at(c, m); excused[m] = 0; due[m] = 0;
  if :: is_stray -> strayed[m] = 1 :: else fi;
  nothing_is_lost
}

/* What only this collection had is gone. Damage to what users are on, after the final check, or not larger than what users
 * may delete or change, cannot be found in time. The final check of a rollback counts memories only. */
#define is_unseen(c, to_what) (c == home || stage == note_home || \
  to_what == DAMAGED && to == OLD && c == OLD && (stage == change_setting || stage == deploy || stage == prove || stage == last_look))
inline damage(c, to_what) {
  damaged = (to_what == GONE || in_all(0) + in_all(1) + in_all(2) > FUSE);
  for (each(m)) {
    if
    :: (at(c, m) != 0 || to_what == GONE) && at(c, m) == acked[m] && (!damaged || at(1 - c, m) != acked[m] || is_unseen(c, to_what)) -> excused[m] = 1
    :: else
    fi;
    if :: to_what == DAMAGED && at(c, m) == 0 :: else -> at(c, m) = to_what fi
  }
  damaged = 1; m = 0
}

active proctype world() {
  byte m;
end: do
  :: atomic { !frozen && writes > 0 && any_writable(works_on) -> writes--;
       choose(works_on, m); assert(version == works_on);
       acknowledge(works_on, m, works_on != home && stage == deploy); m = 0 }
  :: atomic { !frozen && late > 0 && any_writable(works_on) -> late--; choose(works_on, pending); pending_on = works_on }
  :: atomic { pending != NOTHING -> m = pending; pending = NOTHING;
       if :: writable(pending_on, m) -> acknowledge(pending_on, m, 1) :: else fi; pending_on = 0; m = 0 }
  :: atomic { forgotten > 0 && home == NEW && any_writable(OLD) -> forgotten--; choose(OLD, m); acknowledge(OLD, m, 1); m = 0 }
  :: atomic { damages > 0 && works_on == NEW && at(NEW, 0) != GONE -> damages--; damage(NEW, 0) }
  :: atomic { damages > 0 && phase != aborted && phase != closed -> damages--; damage(NEW, DAMAGED) }
  :: atomic { damages > 0 && home == NEW && at(OLD, 0) != GONE -> damages--;
       if :: damage(OLD, 0) :: damage(OLD, DAMAGED) :: stage != note_home -> damage(OLD, GONE) fi }
  od
}

/* Between any two actions; the command is then repeated, or another one given. */
#define may_be_killed if :: kills > 0 -> kills--; goto resume :: true fi
#define save(next) stage = next; cursor = 0

/* Both versions are kept and named in the report. Home's stays: right only where it is the user's, or where a client wrote
 * past the freeze. */
inline report(m) { if :: acked[m] != at(home, m) -> assert(strayed[m] || damaged); excused[m] = 1 :: else fi }

inline make_poorer(c, m) {
  if :: served[c] -> removed++; assert(removed <= limit); if :: damaged -> excused[m] = 1 :: else fi :: else fi
}

/* The walk has passed a memory: what the idle collection has of it. The first copy, before any window, writes no base. */
inline pass(x) {
  if
  :: stage == copy && known == 0
  :: else -> base[cursor] = x; if :: known <= cursor -> known = cursor + 1 :: else fi
  fi;
#ifdef NOTES_DROPPED
  noted[0] = 0; noted[1] = 0; noted[2] = 0
#else
  noted[cursor] = 0
#endif
}

/* The old collection is gone: its snapshot, under another name, is older than what both had. */
inline restore_snapshot() {
  at(OLD, 0) = 1; at(OLD, 1) = 1; at(OLD, 2) = 0;
  forgotten = 0; if :: pending_on == OLD -> pending = NOTHING :: else fi;
#ifndef BASE_OUTLIVES_RESTORE
  known = 0; for (each(u)) { base[u] = 0; noted[u] = 0 } u = 0
#endif
}

/* A version reads the setting when it starts. */
inline deploy_version() {
  atomic {
    served[to] = 1;
    if
    :: version = to; works_on = setting; if :: leaks > 0 -> leaks--; frozen = 0 :: true -> frozen = 1 fi
    :: lies > 0 -> lies--
    fi
  }
  frozen = 1
}

active proctype command() {
  byte u, h, i, b;

rest:                           /* the operator's commands, in any order */
end: atomic {
    removed = 0; removals = 0; as_it_was = 0; limit = FUSE;
    if
    :: phase == copied && !is_final && commands > 0 -> commands--; to = NEW; save(copy);
       if :: refused > 0 -> limit = refused :: true fi; refused = 0
    :: phase == live && commands > 0 -> commands--; to = OLD; phase = switching_back; save(freeze);
       if :: refused > 0 -> limit = refused :: refused > 0 -> as_it_was = 1 :: true fi; refused = 0
    :: phase == live && damaged && refused > 0 -> refused = 0;                 /* the operator repairs it */
       for (each(u)) { if :: excused[u] -> at(NEW, u) = acked[u]; excused[u] = 0 :: else fi } u = 0; goto rest
    :: phase == copied -> phase = aborted;
#ifndef ABORT_REMOVES_ALL
       if :: served[NEW] -> goto over :: else fi;
#endif
       for (each(u)) { at(NEW, u) = GONE } u = 0; nothing_is_lost; goto over
    :: phase == live -> phase = closed;                                        /* retention is over */
#ifndef NO_LOOK_BEFORE_REMOVAL
       if :: all(old_is_base) :: else -> goto over fi;
#endif
       for (each(u)) { at(OLD, u) = GONE } u = 0; nothing_is_lost; goto over
    fi
  }

resume:
  atomic {
    u = 0; h = 0; i = 0; b = 0;
    if :: true :: cursor = 0 fi;                                               /* the last checkpoint may be older */
    if
    :: to != home && stage != copy -> goto failed                              /* rollback, or the deadline */
    :: stage == copy -> stage = none; goto rest
    :: true
    fi
  }

continue:
  if
  :: atomic { stage == copy || stage == make_equal || stage == carry_over ->
       is_damaged = is_damaged || lacking(idle) > FUSE || changed(idle) > FUSE; goto walk }

  :: atomic { stage == freeze ->
       if :: to == NEW -> phase = switching :: at(to, 0) == GONE -> restore_snapshot() :: else fi;
       if :: frozen = 1 :: lies > 0 -> lies-- fi;
       may_be_killed
     }
     atomic {
       if
#ifndef NO_FREEZE_PROOF
       :: !frozen -> goto failed
#endif
       :: else -> if :: as_it_was -> save(change_setting) :: else -> save(count_removals) fi
       fi
     }

  :: atomic { stage == count_removals ->
#ifndef NO_FUSE
       if
       :: served[idle] ->
          for (each(u)) { b = b + (at(home, u) == 0 && at(idle, u) != 0 && (u >= known || at(idle, u) == base[u])) }
          u = 0; if :: b > limit -> refused = b; goto failed :: else -> b = 0 fi
       :: else
       fi;
#endif
       save(make_equal)
     }

  :: atomic { stage == compare ->
       for (each(u)) { if :: old_is_base(u) && new_is_base(u) && base[u] == acked[u] -> strayed[u] = 0 :: else fi } u = 0;
#ifndef NO_COMPARISON
       if :: !all(old_is_base) || !all(new_is_base) -> save(count_removals); goto continue :: else fi;
#endif
       save(change_setting)
     }

#ifdef SETTING_AFTER_DEPLOYMENT
  :: stage == change_setting -> deploy_version(); may_be_killed; setting = to; save(prove)
#else
  :: atomic { stage == change_setting -> setting = to; may_be_killed; save(deploy) }
  :: stage == deploy -> deploy_version(); atomic { may_be_killed; save(prove) }
#endif

  :: atomic { stage == prove ->
       if
#ifndef NO_VERSION_PROOF
       :: (version != to || works_on != to) && to == home -> save(change_setting)
       :: (version != to || works_on != to) && to != home -> goto failed
#endif
       :: else -> save(last_look)
       fi
     }

  :: atomic { stage == last_look ->
       if
#ifndef NO_LAST_LOOK
       :: to == NEW && home == OLD && !(all(old_is_base) && all(new_is_base)) -> goto failed
       :: to == OLD && home == NEW && (at(OLD, 0) == GONE || !as_it_was && lacking(OLD) > FUSE) -> goto failed
#endif
       :: else -> save(note_home)
       fi
     }

#ifdef HOME_AFTER_OPENING
  :: stage == note_home -> frozen = 0; may_be_killed; atomic {
#else
  :: atomic { stage == note_home ->
#endif
       home = to;
       for (each(u)) {
         due[u] = (at(home, u) != acked[u]);
         if :: as_it_was && due[u] -> excused[u] = 1; due[u] = 0 :: else fi
       }
       u = 0; is_final = is_final || as_it_was;
       may_be_killed;
       save(open_writes)
     }

  :: atomic { stage == open_writes ->
       assert(setting == home && version == home && works_on == home && all(shown));
       frozen = 0;
       may_be_killed;
#ifdef NO_SECOND_LOOK
       goto finish;
#endif
       if :: is_final -> goto finish :: else -> save(carry_over) fi
     }
  fi;
  goto continue;

walk:                           /* three versions of each memory: at home, in the idle collection, and when both were equal */
  do
  :: atomic { cursor == 3 -> break }
  :: atomic {
       cursor < 3;
       h = at(home, cursor); i = at(idle, cursor); b = base[cursor];
       if
       :: i == GONE && stage == carry_over -> goto finish
       :: i == GONE && stage != carry_over -> goto failed
       :: else
       fi;
#ifndef UNKNOWN_IS_ABSENT
       if :: cursor >= known -> b = i :: else fi;                               /* home is right */
#endif
#ifdef TWO_VERSIONS
       b = i;
#endif
#ifdef DAMAGE_AS_DELETIONS
       if :: i == 0 -> goto judge :: else fi;
#endif
#ifdef DAMAGE_AS_CHANGES
       if :: i != 0 -> goto judge :: else fi;
#endif
       if :: h != i && i != b && h == b && b != 0 && (is_damaged || removals >= limit) -> report(cursor); b = i :: else fi;
judge: if
       :: h == i -> pass(h); goto next
       :: h != i && i == b && stage == carry_over -> pass(i); goto next        /* users have written on */
       :: h != i && i == b && stage != carry_over ->                           /* only home has changed */
#ifndef NO_FUSE
#ifndef COUNT_AFTER_REMOVAL
          if :: served[idle] && h == 0 -> removals++; if :: removals > limit -> refused = removals; goto failed :: else fi :: else fi;
#endif
#endif
          skip
       :: h != i && i != b && h == b && !(h == 0 && noted[cursor]) ->          /* a client wrote to the standby collection */
          if :: h != 0 -> removals++ :: else fi
       :: h != i && i != b && (h != b || h == 0 && noted[cursor]) ->           /* a conflict: home stays */
          report(cursor); pass(i); goto next
       fi;
#ifndef NO_NOTE
       if :: cursor < known && (i == b && i == 0 || i != b && h == 0) -> noted[cursor] = 1 :: else fi;
#endif
#ifdef BASE_BEFORE_WRITE
       base[cursor] = (i == b -> h : i);
#endif
       may_be_killed
     }
     atomic {                   /* only where the memory is still as it was read */
       if
#ifndef NO_CONDITION
       :: i != b && at(home, cursor) != h -> report(cursor)
       :: i == b && at(idle, cursor) != i
#endif
       :: else ->
          if
          :: i == b && drops > 0 -> drops--
          :: i == b -> at(idle, cursor) = h; if :: h == 0 -> make_poorer(idle, cursor) :: else fi
          :: i != b -> at(home, cursor) = i; if :: i == 0 || i == DAMAGED && h != 0 -> make_poorer(home, cursor) :: else fi
          fi
       fi;
       nothing_is_lost;
       may_be_killed
     }
     atomic {                   /* read back */
       if
       :: i == b && at(idle, cursor) == i -> pass(i)
       :: i == b && at(idle, cursor) != i && at(idle, cursor) != h -> report(cursor); pass(at(idle, cursor))
       :: i == b && at(idle, cursor) != i && at(idle, cursor) == h -> pass(h);
#ifdef COUNT_AFTER_REMOVAL
          if :: h == 0 -> removals++ :: else fi
#endif
       :: i != b -> pass(i)
       fi;
       may_be_killed;
next:  h = 0; i = 0; b = 0; cursor++
     }
  od;
  atomic {
    is_damaged = 0;
    if
    :: stage == copy -> save(freeze); goto continue
    :: stage == make_equal -> save(compare); goto continue
    :: stage == carry_over
    fi
  }

finish:
  atomic {
    assert(all(arrived) && all(shown));
    if :: home == NEW -> phase = live :: else -> phase = copied fi;
    save(none); goto rest
  }

failed:                         /* the same operation in the other direction; with users back at home, it is only repeated */
  atomic {
    h = 0; i = 0; b = 0; is_damaged = 0;
    if
    :: stage == copy -> save(none); goto rest
    :: else -> to = home; as_it_was = 0; save(change_setting)
    fi
  }
#ifdef FAILURE_WAITS
  goto over;
#endif
  goto continue;

over:
  skip
}

ltl writes_are_opened { []<> !frozen }
