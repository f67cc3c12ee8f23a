import { Check, ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { Checkbox as AriaCheckbox, type CheckboxProps } from 'react-aria-components/Checkbox'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select'
import { Slider as AriaSlider, SliderThumb, SliderTrack } from 'react-aria-components/Slider'
import type { SliderProps } from 'react-aria-components/Slider'
import { Switch as AriaSwitch, type SwitchProps } from 'react-aria-components/Switch'

import { showNumber } from '../words/language.ts'
import styles from './fields.module.css'
import { About, listOf, Name } from './first-fields.tsx'
import type { ChoiceProps, FieldProps, Plain } from './first-fields.tsx'
import layers from './layers.module.css'

/** Fields that the first page has, too, apart from those that it need not load. */
export { AddressField, listOf, SearchField, Segments, TextField } from './first-fields.tsx'
export type { Options } from './first-fields.tsx'

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
