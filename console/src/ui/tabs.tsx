import type { ReactNode } from 'react'
import { Tab, TabList, TabPanel, Tabs as AriaTabs } from 'react-aria-components/Tabs'

import styles from './tabs.module.css'

export interface TabSpec<Id extends string> {
  id: Id
  title: ReactNode
  /** Drawn only while it is selected. */
  content: ReactNode | (() => ReactNode)
}

/** Tabs whose choice lives in the address: give `selected` and `onSelect` from the search parameters. */
export const Tabs = <Id extends string>({
  label,
  tabs,
  selected,
  onSelect,
}: {
  label: string
  tabs: readonly TabSpec<Id>[]
  selected: Id
  onSelect(id: Id): void
}) => (
  <AriaTabs
    className={styles.tabs}
    selectedKey={selected}
    onSelectionChange={(key) => onSelect(key as Id)}
  >
    <TabList aria-label={label} className={styles.list}>
      {tabs.map(({ id, title }) => (
        <Tab key={id} id={id} className={styles.tab}>
          {title}
        </Tab>
      ))}
    </TabList>
    {tabs.map(({ id, content }) => (
      <TabPanel key={id} id={id} className={styles.panel}>
        {id === selected && (typeof content === 'function' ? content() : content)}
      </TabPanel>
    ))}
  </AriaTabs>
)
