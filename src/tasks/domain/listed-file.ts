/** Most files of one list. */
export const MAX_LISTED = 16

/** Names a file of a list among the inputs of its task: `masks.0`. No member has a dot in its name. */
export const listedField = (member: string, place: number): string => `${member}.${place}`

/** Finds the member that an input is of. */
export const memberOf = (field: string): string => field.split('.')[0] ?? field

/** Points at an input in the body of its task. */
export const pointerOf = (field: string): string => `/${field.replace('.', '/')}`

/** Gathers what belongs to inputs by their members: those of a list in its order. */
export const gatherListed = <Value>(
  byField: Readonly<Record<string, Value>>,
): Record<string, Value | Value[]> => {
  const members: Record<string, Value | Value[]> = {}
  for (const [field, value] of Object.entries(byField)) {
    const [member = field, place] = field.split('.')
    if (place === undefined) members[member] = value
    else ((members[member] ??= []) as Value[])[Number(place)] = value
  }
  return members
}
