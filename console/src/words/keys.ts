/** What the keys do, for the help. */
export const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['?', 'this list'],
  ['/', 'search'],
  ['Ctrl K', 'commands'],
  ['g then h t a r p m o', 'Home, Try, tAsks, Registry, Publishers, Moderation, Operations'],
  ['j k or arrows', 'the next and the last row'],
  ['Enter', 'open a row'],
  ['c', 'cancel a task'],
  ['r', 'redeliver an event'],
  ['n p', 'the next and the last change'],
  ['a h b', 'approve, hold back, ban'],
  ['arrows at a slider', '1 %, with Shift 10 %'],
  ['Esc', 'close'],
]
