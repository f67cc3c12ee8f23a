import type { UnknownValue } from '../interpret/values/value.ts'
import { ownEntry } from './class-facts.ts'
import { FACTS } from './facts.ts'

/** The text of a member of one of `io`'s enumerations: `io.NumberDisplay.slider`, also with `.value`. */
export const findHostText = ({ name }: UnknownValue): string | undefined => {
  const [, enumeration = '', member = ''] = MEMBER.exec(name) ?? []
  const members = ownEntry(FACTS.v3.enums, enumeration)
  return members && ownEntry(members, member)
}

/** The name of such a member. */
export const findMemberName = ({ name }: UnknownValue): string | undefined => MEMBER.exec(name)?.[2]

const MEMBER = /(?:^|\.)(\w+)\.(\w+?)(?:\.value)?$/

/** The socket type of a type of `io` by its name there. */
export const socketTypeNamed = (name: string): string =>
  ownEntry(FACTS.v3.socketTypes, name) ??
  ownEntry(FACTS.v3.newerSocketTypes, name) ??
  name.toUpperCase()
