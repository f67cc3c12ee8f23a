import { useSearch } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useEffect, useEffectEvent, useId, useRef, useState, type ReactNode } from 'react'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { Text } from 'react-aria-components/Text'
import { TextArea } from 'react-aria-components/TextArea'
import { TextField as AriaTextField } from 'react-aria-components/TextField'
import type { TextFieldProps as AriaTextProps } from 'react-aria-components/TextField'
import { ToggleButton } from 'react-aria-components/ToggleButton'
import { ToggleButtonGroup } from 'react-aria-components/ToggleButtonGroup'

import { useChangeSearch } from './address.ts'
import styles from './fields.module.css'

export interface FieldProps {
  label: string
  /** The label is read out, not shown. */
  isLabelHidden?: boolean
  /** Read out and shown below the field. */
  help?: ReactNode
  /** The error of the last attempt, tied to the field. */
  error?: string
}

/** Props of a React Aria component, but for those of its style. */
export type Plain<Props> = Omit<Props, 'className' | 'style' | 'children'>

export const Name = ({ label, isLabelHidden }: FieldProps) => (
  <Label className={isLabelHidden ? 'hidden-text' : 'strong'}>{label}</Label>
)

export const About = ({ help, error }: Omit<FieldProps, 'label'>) => (
  <>
    {help && (
      <Text slot="description" className="soft small">
        {help}
      </Text>
    )}
    {error && (
      <Text slot="errorMessage" className="bad small">
        {error}
      </Text>
    )}
  </>
)

interface TextFieldProps extends FieldProps, Plain<AriaTextProps> {
  placeholder?: string
  /** Several lines. */
  rows?: number
  /** Texts to choose from, beside any other. */
  suggestions?: readonly string[]
}

export const TextField = (props: TextFieldProps) => {
  const { label, help, error, placeholder, rows, suggestions, isLabelHidden, ...rest } = props
  const list = useId()
  const isSearch = rest.type === 'search'
  return (
    <AriaTextField
      {...rest}
      className={styles.field}
      isInvalid={error !== undefined}
      validationBehavior="aria"
    >
      <Name label={label} isLabelHidden={isLabelHidden} />
      {rows ? (
        <TextArea className={styles.input} rows={rows} placeholder={placeholder} />
      ) : (
        <div className={isSearch ? styles.search : undefined}>
          {isSearch && <Search aria-hidden />}
          <Input className={styles.input} placeholder={placeholder} list={suggestions && list} />
          {suggestions && (
            <datalist id={list}>
              {suggestions.map((text) => (
                <option key={text} value={text} />
              ))}
            </datalist>
          )}
        </div>
      )}
      <About help={help} error={error} />
    </AriaTextField>
  )
}

/** Labels by value; as a list where the order is not that of the names, or a value says all. */
export type Options<Value extends string> =
  | Readonly<Record<Value, string>>
  | readonly (Value | readonly [value: Value, label: string])[]

export const listOf = (
  options: Options<string>,
): readonly (readonly [value: string, label: string])[] =>
  Symbol.iterator in options
    ? options.map((one) => (typeof one === 'string' ? [one, one] : one))
    : Object.entries(options)

export interface ChoiceProps<Value extends string> extends FieldProps {
  options: Options<Value>
  value: Value | undefined
  onChange(value: Value): void
}

/** One of a few, all shown. */
export const Segments = <Value extends string>(props: ChoiceProps<Value>) => (
  <div className={styles.field}>
    {!props.isLabelHidden && (
      <span className="strong" aria-hidden>
        {props.label}
      </span>
    )}
    <ToggleButtonGroup
      aria-label={props.label}
      className={`row ${styles.segments}`}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={props.value === undefined ? [] : [props.value]}
      onSelectionChange={([key]) => props.onChange(key as Value)}
    >
      {listOf(props.options).map(([value, label]) => (
        <ToggleButton key={value} id={value} className={styles.segment}>
          {label}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
    <About {...props} />
  </div>
)

interface SearchFieldProps {
  label: string
  placeholder?: string
  /** As the address has it. */
  value: string | undefined
  onChange(text: string | undefined): void
  /** Milliseconds without a key, after which the next one is reported at once, as the first of a text is. */
  pause?: number
}

/**
 * A field that reports its text: at once for a key after a pause, and once nobody types for those that follow each other
 * quickly. It follows the address when that changes otherwise.
 */
export const SearchField = (props: SearchFieldProps) => {
  const { label, placeholder = label, value = '', onChange, pause = 60 } = props
  const [text, setText] = useState(value)
  const report = useEffectEvent(onChange)
  const written = useRef(value)
  const typedAt = useRef(0)
  useEffect(() => {
    if (value === written.current) return
    written.current = value
    setText(value)
  }, [value])
  useEffect(() => {
    if (text === written.current) return undefined
    const isFirst = written.current === '' || Date.now() - typedAt.current > pause
    typedAt.current = Date.now()
    const timer = setTimeout(
      () => {
        written.current = text
        report(text || undefined)
      },
      isFirst ? 0 : pause,
    )
    return () => clearTimeout(timer)
  }, [text, pause])
  return (
    <TextField
      label={label}
      placeholder={placeholder}
      isLabelHidden
      type="search"
      maxLength={200}
      value={text}
      onChange={setText}
    />
  )
}

type AddressFieldProps = Pick<SearchFieldProps, 'label' | 'placeholder'> & {
  name?: 'q' | 'node'
  /** Asks for what the page will show, which then need not wait for the page. */
  prepare?(text: string | undefined): void
}

/** A field whose text is a search parameter of the page that is seen. */
export const AddressField = ({ name = 'q', prepare, ...props }: AddressFieldProps) => {
  const value = useSearch({ strict: false, select: (all) => all[name] })
  const change = useChangeSearch()
  const show = (text: string | undefined): void => {
    prepare?.(text)
    change({ [name]: text })
  }
  return <SearchField {...props} value={value} onChange={show} />
}
