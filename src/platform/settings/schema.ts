import { Type } from 'typebox'

export const text = (description: string, value?: string) =>
  Type.String({ minLength: 1, description, ...(value === undefined ? {} : { default: value }) })

/** A text that is empty unless it is given. */
export const optionalText = (description: string) => Type.String({ default: '', description })

export const choice = <Value extends string>(values: Value[], value: Value, description: string) =>
  Type.Enum(values, { default: value, description })

export const count = (description: string, value: number, minimum = 0, maximum = 2_147_483_647) =>
  Type.Integer({ minimum, maximum, default: value, description })

export const bytes = (description: string, value: number) =>
  count(description, value, 1, Number.MAX_SAFE_INTEGER)

export const flag = (description: string) => Type.Boolean({ default: false, description })

export const list = (description: string, value = '') =>
  Type.String({ default: value, description: `${description} Separated by commas.` })

export const visible = (description: string) =>
  Type.String({
    default: '',
    pattern: '^[\\x21-\\x7e]*$',
    description,
    'x-expectation': 'visible ASCII characters',
  })

export const constant = (value: number, minimum = 0, maximum = 2_147_483_647) =>
  Type.Integer({ minimum, maximum, default: value })

/** Settings whose values are lists of texts, once their commas are split. */
export type WithLists<Settings, Name extends keyof Settings> = Omit<Settings, Name> &
  Record<Name, string[]>

/** The items of a list in a setting. */
export const splitList = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
