import { Check, ChevronDown, Search } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { Checkbox as AriaCheckbox } from 'react-aria-components/Checkbox'
import type { CheckboxProps } from 'react-aria-components/Checkbox'
import { FieldError } from 'react-aria-components/FieldError'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select'
import {
  Slider as AriaSlider,
  SliderOutput,
  SliderThumb,
  SliderTrack,
} from 'react-aria-components/Slider'
import { Switch as AriaSwitch } from 'react-aria-components/Switch'
import type { SwitchProps } from 'react-aria-components/Switch'
import { Text } from 'react-aria-components/Text'
import { TextArea } from 'react-aria-components/TextArea'
import { TextField as AriaTextField } from 'react-aria-components/TextField'
import type { TextFieldProps as AriaTextProps } from 'react-aria-components/TextField'
import { ToggleButton } from 'react-aria-components/ToggleButton'
import { ToggleButtonGroup } from 'react-aria-components/ToggleButtonGroup'

import styles from './fields.module.css'
import layers from './layers.module.css'

interface FieldProps {
  label: string
  /** Read out and shown below the field. */
  help?: ReactNode
  /** The fault of the last try, tied to the field. */
  error?: string
}

const About = ({ help, error }: Omit<FieldProps, 'label'>) => (
  <>
    {help && (
      <Text slot="description" className={styles.help}>
        {help}
      </Text>
    )}
    <FieldError className={styles.error}>{error}</FieldError>
  </>
)

export interface TextFieldProps
  extends FieldProps, Omit<AriaTextProps, 'className' | 'style' | 'children'> {
  placeholder?: string
  /** Several lines. */
  rows?: number
  /** Shows a magnifier. */
  isSearch?: boolean
  /** The label is read out, not shown. */
  isLabelHidden?: boolean
}

export const TextField = ({
  label,
  help,
  error,
  placeholder,
  rows,
  isSearch,
  isLabelHidden,
  ...props
}: TextFieldProps) => (
  <AriaTextField
    {...props}
    className={styles.field}
    isInvalid={error !== undefined}
    validationBehavior="aria"
  >
    <Label className={isLabelHidden ? 'hidden-text' : styles.label}>{label}</Label>
    {rows ? (
      <TextArea className={styles.input} rows={rows} placeholder={placeholder} />
    ) : (
      <div className={isSearch ? styles.search : undefined}>
        {isSearch && <Search aria-hidden />}
        <Input className={styles.input} placeholder={placeholder} />
      </div>
    )}
    <About help={help} error={error} />
  </AriaTextField>
)

export interface Option<Value extends string> {
  value: Value
  label: string
}

interface ChoiceProps<Value extends string> extends FieldProps {
  options: readonly Option<Value>[]
  value: Value | undefined
  onChange(value: Value): void
  isDisabled?: boolean
  isLabelHidden?: boolean
}

/** One of many. */
export const Select = <Value extends string>({
  label,
  help,
  error,
  options,
  value,
  onChange,
  isLabelHidden,
  ...props
}: ChoiceProps<Value> & { placeholder?: string }) => (
  <AriaSelect
    {...props}
    className={styles.field}
    isInvalid={error !== undefined}
    value={value ?? null}
    onChange={(key) => onChange(key as Value)}
  >
    <Label className={isLabelHidden ? 'hidden-text' : styles.label}>{label}</Label>
    <Button className={`${styles.input} ${styles.select}`}>
      <SelectValue />
      <ChevronDown aria-hidden />
    </Button>
    <About help={help} error={error} />
    <Popover className={layers.popover} offset={4}>
      <ListBox className={layers.items}>
        {options.map(({ value: id, label: text }) => (
          <ListBoxItem key={id} id={id} className={layers.item} textValue={text}>
            {text}
          </ListBoxItem>
        ))}
      </ListBox>
    </Popover>
  </AriaSelect>
)

/** One of a few, all shown. */
export const Segments = <Value extends string>({
  label,
  help,
  error,
  options,
  value,
  onChange,
  isDisabled,
  isLabelHidden,
}: ChoiceProps<Value>) => (
  <div className={styles.field}>
    <span className={isLabelHidden ? 'hidden-text' : styles.label} aria-hidden>
      {label}
    </span>
    <ToggleButtonGroup
      aria-label={label}
      className={styles.segments}
      selectionMode="single"
      disallowEmptySelection
      isDisabled={isDisabled}
      selectedKeys={value === undefined ? [] : [value]}
      onSelectionChange={(keys) => {
        for (const key of keys) onChange(key as Value)
      }}
    >
      {options.map(({ value: id, label: text }) => (
        <ToggleButton key={id} id={id} className={styles.segment}>
          {text}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
    {help && <span className={styles.help}>{help}</span>}
    {error && <span className={styles.error}>{error}</span>}
  </div>
)

export const Switch = ({
  label,
  ...props
}: Omit<SwitchProps, 'className' | 'style' | 'children'> & { label: ReactNode }) => (
  <AriaSwitch {...props} className={styles.switch}>
    <span className={styles.track} aria-hidden />
    <span>{label}</span>
  </AriaSwitch>
)

export const Checkbox = ({
  label,
  ...props
}: Omit<CheckboxProps, 'className' | 'style' | 'children'> & { label?: ReactNode }) => (
  <AriaCheckbox {...props} className={styles.switch}>
    <span className={styles.check} aria-hidden>
      <Check />
    </span>
    {label && <span>{label}</span>}
  </AriaCheckbox>
)

interface SliderProps extends FieldProps {
  value: number
  onChange(value: number): void
  onChangeEnd?(value: number): void
  minValue: number
  maxValue: number
  step?: number
  isDisabled?: boolean
}

/** A bounded number; beside it belongs a field for the exact value. */
export const Slider = ({ label, help, error, onChange, onChangeEnd, ...props }: SliderProps) => (
  <AriaSlider {...props} className={styles.slider} onChange={onChange} onChangeEnd={onChangeEnd}>
    <Label className={styles.label}>{label}</Label>
    <SliderOutput />
    <SliderTrack className={styles.rail}>
      <SliderThumb className={styles.thumb} />
    </SliderTrack>
    {help && <span className={styles.help}>{help}</span>}
    {error && <span className={styles.error}>{error}</span>}
  </AriaSlider>
)
