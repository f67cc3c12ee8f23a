import { createElement, Fragment, type ReactNode } from 'react'

import { readCatalogue } from '../api/catalogue.ts'
import { language, showNumber } from './language.ts'

/** Texts of the language by the English ones, which are the keys. It is there before any text is asked for. */
const catalogue = await readCatalogue(language)

type Value = string | number | undefined
type Values = Readonly<Record<string, Value>>

const PLURAL = /\{(\w+), plural,((?: \w+ \{(?:[^{}]|\{\w+\})*\})+)\}/g
const FORM = /(\w+) \{((?:[^{}]|\{\w+\})*)\}/g
const NAME = /\{(\w+)\}/g

const RULES = new Intl.PluralRules(language)

/** Chooses the plural forms of a text in ICU's MessageFormat, of which a text has plurals, names and tags. */
export const choosePlurals = (text: string, values: object, rules = RULES): string =>
  text.replaceAll(PLURAL, (_whole, name: string, given: string) => {
    const count = (values as Values)[name] as number
    const forms = new Map([...given.matchAll(FORM)].map(([, form, words = '']) => [form, words]))
    const words = forms.get(rules.select(count)) ?? forms.get('other') ?? ''
    return words.replaceAll('#', showNumber(count))
  })

/** The translation of a text. A word with two meanings names its own behind a line: `Review|verb`. */
const find = (english: string): string => tName(english, english.replace(/\|.*/, ''))

/** A text in the language of the page: `t('{count, plural, one {# task} other {# tasks}} of {name}', { count, name })`. */
export const t = (english: string, values?: Values): string => {
  const text = find(english)
  if (values === undefined) return text
  return choosePlurals(text, values).replaceAll(NAME, (_whole, name: string) =>
    String(values[name]),
  )
}

/** A name that comes from the API's document, such as the label of a field, where the catalogue has it. */
export const tName = (english: string, missing = english): string =>
  (Object.hasOwn(catalogue, english) ? catalogue[english] : undefined) ?? missing

const PART = /<(\w+)>(.*?)<\/\1>|\{(\w+)\}/gs

type Tag = (inside: ReactNode) => ReactNode
type Nodes = Readonly<Record<string, ReactNode | Tag>>

/** A sentence with elements in it: `rich('See {time} in the <a>log</a>', { time: <Time …/>, a: (text) => <a>{text}</a> })`. */
export const rich = (english: string, values: Nodes): ReactNode =>
  fill(choosePlurals(find(english), values), values)

const fill = (text: string, values: Nodes): ReactNode => {
  const parts: ReactNode[] = []
  let end = 0
  for (const { 0: whole, 1: tag, 2: inside = '', 3: name = '', index } of text.matchAll(PART)) {
    const value = values[tag ?? name]
    parts.push(
      text.slice(end, index),
      typeof value === 'function' ? value(fill(inside, values)) : value,
    )
    end = index + whole.length
  }
  return createElement(Fragment, null, ...parts, text.slice(end))
}
