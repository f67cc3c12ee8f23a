import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { extract, namesOf } from './extract-pack.ts'

const CUP = 'class Cup: RETURN_TYPES = ("IMAGE",)\n'

describe('what is known of a pack', () => {
  test('a mapping from outside is unknown, unless the pack lists its nodes itself', () => {
    const source =
      'from some_installed_package import loader\nNODE_CLASS_MAPPINGS = loader.NODE_CLASS_MAPPINGS\n'
    const alone = extract(source)
    assert.equal(alone.status, 'failed')
    assert.equal(alone.reason, 'mapping_unknown')
    const listed = extract({ '__init__.py': source, 'node_list.json': '{" Cup ": "Holds it."}' })
    assert.deepEqual([listed.status, listed.how, listed.partial], ['success', 'node_list', true])
    assert.deepEqual(namesOf(listed), ['Cup'])
    assert.equal(listed.nodes[0]?.description, 'Holds it.')
  })

  test('a known part counts, and the unknown rest is said', () => {
    const section = extract(
      `${CUP}from some_installed_package import MORE\nNODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, **MORE}`,
    )
    assert.deepEqual(namesOf(section), ['Kiln Cup'])
    assert.equal(section.partial, true)
  })

  test('interface files only are a success without nodes', () => {
    const section = extract('NODE_CLASS_MAPPINGS = {}\nWEB_DIRECTORY = "./web"')
    assert.deepEqual([section.status, section.partial, section.how], ['success', false, 'none'])
    assert.equal(extract('WEB_DIRECTORY = "./web"').status, 'success')
  })

  test('junk is dropped and counted', () => {
    const section = extract(
      `${CUP}import json\nclass Plain: pass\nNODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, "json": json, "helper": lambda: 1, "Plain": Plain}`,
    )
    assert.deepEqual(namesOf(section), ['Kiln Cup'])
    assert.equal(section.dropped, 3)
    assert.equal(section.partial, false)
  })

  test('without an __init__.py no host can load it', () => {
    assert.deepEqual(
      [extract({ 'nodes.py': CUP }).status, extract({ 'nodes.py': CUP }).reason],
      ['failed', 'no_init'],
    )
  })

  test('without mapping, entrypoint and interface files there is nothing to load', () => {
    assert.equal(extract('x = 1').reason, 'no_mapping')
  })

  test('names are scanned for where nothing else is to be had', () => {
    const section = extract({
      '__init__.py': 'from unknown_thing import make\nNODE_CLASS_MAPPINGS = make()',
      'other.py': 'def f():\n    NODE_CLASS_MAPPINGS = {"Kiln Pot": 1, **x}',
    })
    assert.deepEqual([section.how, section.partial], ['literal_scan', true])
    assert.deepEqual(namesOf(section), ['Kiln Pot'])
  })

  test('names of built-in nodes are ignored', () => {
    const section = extract(`${CUP}NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, "KSampler": Cup}`)
    assert.deepEqual(namesOf(section), ['Kiln Cup'])
  })

  test('the same pack gives the same, in every locale and time zone', () => {
    const source = `${CUP}NODE_CLASS_MAPPINGS = {k: Cup for k in ["b", "a", "ä", "Z"]}`
    const { stats: _, ...first } = extract(source)
    const { stats: __, ...second } = extract(source)
    assert.deepEqual(first, second)
    assert.deepEqual(
      first.nodes.map(({ name }) => name),
      ['b', 'a', 'ä', 'Z'],
    )
  })
})
