import { useSearch } from '@tanstack/react-router'
import { Check, ChevronDown, Search } from 'lucide-react'
import { useEffect, useEffectEvent, useId, useRef, useState, type ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { Checkbox as AriaCheckbox, type CheckboxProps } from 'react-aria-components/Checkbox'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select'
import { Slider as AriaSlider, SliderThumb, SliderTrack } from 'react-aria-components/Slider'
import type { SliderProps } from 'react-aria-components/Slider'
import { Switch as AriaSwitch, type SwitchProps } from 'react-aria-components/Switch'
import { Text } from 'react-aria-components/Text'
import { TextArea } from 'react-aria-components/TextArea'
import { TextField as AriaTextField } from 'react-aria-components/TextField'
import type { TextFieldProps as AriaTextProps } from 'react-aria-components/TextField'
import { ToggleButton } from 'react-aria-components/ToggleButton'
import { ToggleButtonGroup } from 'react-aria-components/ToggleButtonGroup'

import { showNumber } from '../words/language.ts'
import { useChangeSearch } from './address.ts'
import styles from './fields.module.css'
import layers from './layers.module.css'

interface FieldProps {
  label: string
  /** The label is read out, not shown. */
  isLabelHidden?: boolean
  /** Read out and shown below the field. */
  help?: ReactNode
  /** The error of the last attempt, tied to the field. */
  error?: string
}

/** Props of a React Aria component, but for those of its style. */
type Plain<Props> = Omit<Props, 'className' | 'style' | 'children'>

const Name = ({ label, isLabelHidden }: FieldProps) => (
  <Label className={isLabelHidden ? 'hidden-text' : 'strong'}>{label}</Label>
)

const About = ({ help, error }: Omit<FieldProps, 'label'>) => (
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

interface ChoiceProps<Value extends string> extends FieldProps {
  options: Options<Value>
  value: Value | undefined
  onChange(value: Value): void
}

/** One of many. */
export const Select = <Value extends string>(props: ChoiceProps<Value>) => (
  <AriaSelect
    className={styles.field}
    isInvalid={props.error !== undefined}
    value={props.value ?? null}
    onChange={(key) => props.onChange(key as Value)}
  >
    <Name {...props} />
    <Button className={`row apart ${styles.input} ${styles.select}`}>
      <SelectValue />
      <ChevronDown aria-hidden />
    </Button>
    <About {...props} />
    <Popover className={layers.popover} offset={4}>
      <ListBox className={layers.items}>
        {listOf(props.options).map(([value, label]) => (
          <ListBoxItem key={value} id={value} className={`row ${layers.item}`}>
            {label}
          </ListBoxItem>
        ))}
      </ListBox>
    </Popover>
  </AriaSelect>
)

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

type ToggleProps<Props> = Plain<Props> & Omit<FieldProps, 'label'> & { label?: ReactNode }

export const Switch = ({ label, help, error, ...props }: ToggleProps<SwitchProps>) => (
  <div className={styles.field}>
    <AriaSwitch {...props} className={`row ${styles.switch}`}>
      <span className={styles.track} aria-hidden />
      {label}
    </AriaSwitch>
    <About help={help} error={error} />
  </div>
)

export const Checkbox = ({ label, ...props }: ToggleProps<CheckboxProps>) => (
  <AriaCheckbox {...props} className={`row ${styles.switch}`}>
    <Check className={styles.check} aria-hidden />
    {label && <span>{label}</span>}
  </AriaCheckbox>
)

type RangeProps = FieldProps & Plain<SliderProps<number>>

/** A bounded number; beside it belongs a field for the exact value. */
export const Slider = ({ label, help, error, ...props }: RangeProps) => (
  <AriaSlider {...props} className={styles.field}>
    <Name label={label} />
    <SliderTrack className={styles.rail}>
      <SliderThumb className={styles.thumb} />
    </SliderTrack>
    <div className={`${styles.ends} soft small`} aria-hidden>
      <span>{showNumber(props.minValue ?? 0)}</span>
      <span>{showNumber(props.maxValue ?? 0)}</span>
    </div>
    <About help={help} error={error} />
  </AriaSlider>
)

interface SearchFieldProps {
  label: string
  placeholder?: string
  /** As the address has it. */
  value: string | undefined
  onChange(text: string | undefined): void
  /** Milliseconds without a key, after which the next one is reported at once. */
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
    const wait = Date.now() - typedAt.current > pause ? 0 : pause
    typedAt.current = Date.now()
    const timer = setTimeout(() => {
      written.current = text
      report(text || undefined)
    }, wait)
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

type AddressFieldProps = Pick<SearchFieldProps, 'label' | 'placeholder'> & { name?: 'q' | 'node' }

/** A field whose text is a search parameter of the page that is seen. */
export const AddressField = ({ name = 'q', ...props }: AddressFieldProps) => {
  const { [name]: value } = useSearch({ strict: false })
  const change = useChangeSearch()
  return <SearchField {...props} value={value} onChange={(text) => change({ [name]: text })} />
}
