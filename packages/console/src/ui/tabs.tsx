import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, type ReactNode } from 'react'
import { Tab, TabList, TabPanel, Tabs as AriaTabs } from 'react-aria-components/Tabs'

import { t } from '../words/translate.ts'
import styles from './tabs.module.css'

/** Settings have a narrow column, which begins with their purpose and a link to a page of the documentation. */
type TabSpec = readonly [title: string, content: ReactNode, about?: string, guide?: string]

interface TabsProps {
  label: string
  /** By id; the content is drawn only while it is selected. */
  tabs: Readonly<Record<string, TabSpec>>
  /** Left of their content, where there is room. */
  side?: boolean
  /** The search parameter in which the choice lives; without it the first is chosen. Others go with the tab that they are of. */
  name?: 'tab' | 'view'
  /** The tab that opens where the address names none, if it is not the first. */
  opens?: string
  /** The chosen tab, where the choice lives elsewhere. */
  selected?: string
  onSelect?(id: string): void
}

/** Tabs whose choice lives in the address. */
export const Tabs = ({ label, tabs, name = 'tab', side, ...props }: TabsProps) => {
  const chosen = useSearch({ strict: false, select: (all) => all[name] })
  const navigate = useNavigate()
  const ids = Object.keys(tabs)
  const first = props.opens ?? ids[0] ?? ''
  const selected = props.selected ?? ids.find((id) => id === chosen) ?? first
  const select = (id: string): void =>
    void navigate({
      to: '.',
      search: { [name]: id === first ? undefined : id },
      replace: true,
      resetScroll: false,
    })
  const list = useRef<HTMLDivElement>(null)
  const place = ids.indexOf(selected)
  // The tabs are drawn a moment later. Not scrollIntoView, which may move the page, too.
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const tab = list.current?.children[place]
      if (tab instanceof HTMLElement)
        list.current?.scrollTo({ left: tab.offsetLeft - tab.offsetWidth })
    })
    return () => cancelAnimationFrame(frame)
  }, [place])
  return (
    <AriaTabs
      className={`${styles.tabs} ${side ? `split ${styles.side}` : ''}`}
      orientation={side ? 'vertical' : 'horizontal'}
      selectedKey={selected}
      onSelectionChange={(key) => (props.onSelect ?? select)(String(key))}
    >
      <TabList ref={list} aria-label={label} className={styles.list}>
        {ids.map((id) => (
          <Tab key={id} id={id} className={styles.tab}>
            {tabs[id]?.[0]}
          </Tab>
        ))}
      </TabList>
      {ids.map((id) => (
        <TabPanel key={id} id={id} className={styles.panel}>
          {id === selected && contentOf(tabs[id])}
        </TabPanel>
      ))}
    </AriaTabs>
  )
}

const contentOf = ([title, content, about, guide]: TabSpec = ['', '']) =>
  about ? (
    <section className={`stack ${styles.settings}`}>
      <h2>{title}</h2>
      <p>
        {about} <a href={`/docs/${guide}`}>{t('Read the guide')}</a>
      </p>
      {content}
    </section>
  ) : (
    content
  )
