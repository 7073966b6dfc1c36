import { terms } from '@zhisuan/contract/root/terms'
import { describe, expect, it } from 'vitest'
import { emphasised, sectionId } from './emphasis.ts'

// The text itself is served by the server; here it is only read as a file.
const [text] = Object.values(import.meta.glob('../../../../server/src/modules/root/terms.json', { eager: true, import: 'default' }))

describe('the terms of service', () => {
  it('have the shape of the contract, ten sections at least, each with a heading of its own', () => {
    const { sections } = terms.get.response.parse(text)
    expect(sections.length).toBeGreaterThanOrEqual(10)
    expect(new Set(sections.map((section) => section.heading)).size).toBe(sections.length)
    expect(sections.every((section) => section.paragraphs.length > 0)).toBe(true)
  })

  it('close every emphasis that they open, and hold no telephone number and no address of a site', () => {
    for (const section of terms.get.response.parse(text).sections) {
      for (const paragraph of section.paragraphs) {
        expect(paragraph.split('**').length % 2, paragraph).toBe(1)
        expect(paragraph).not.toMatch(/\d{7,}|https?:|@/)
      }
    }
  })
})

describe('emphasised', () => {
  it.each([
    ['没有', [{ text: '没有', strong: false }]],
    [
      '前**中**后',
      [
        { text: '前', strong: false },
        { text: '中', strong: true },
        { text: '后', strong: false },
      ],
    ],
    ['**全部**', [{ text: '全部', strong: true }]],
    [
      '一**二**三**四**',
      [
        { text: '一', strong: false },
        { text: '二', strong: true },
        { text: '三', strong: false },
        { text: '四', strong: true },
      ],
    ],
    ['少**一个', [{ text: '少**一个', strong: false }]],
    [
      '**对**而少**一个',
      [
        { text: '对', strong: true },
        { text: '而少**一个', strong: false },
      ],
    ],
    ['', []],
  ])('%s', (paragraph, pieces) => expect(emphasised(paragraph)).toEqual(pieces))
})

describe('sectionId', () => {
  it('counts from one', () => expect([0, 1].map(sectionId)).toEqual(['section-1', 'section-2']))
})
