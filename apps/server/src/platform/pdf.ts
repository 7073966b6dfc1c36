import { createRequire } from 'node:module'

/** All characters that names of people and companies have; what a text needs of it goes into the file. */
const font = createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans-sc/400Regular/NotoSansSC_400Regular.ttf')

/**
 * A page of paper in Chinese, the same bytes at each time: moments and ids that the library would make up are those of what is printed.
 * @param of what stands in its properties
 */
export async function paper(of: { readonly title: string; readonly author: string; readonly at: Date; readonly landscape?: boolean }) {
  // Only where something is printed: it takes a tenth of the memory of a server at rest.
  const { default: PDFDocument } = await import('pdfkit')
  const pdf = new PDFDocument({
    size: 'A4',
    layout: of.landscape === true ? 'landscape' : 'portrait',
    margin: 0,
    lang: 'zh-CN',
    info: { Title: of.title, Author: of.author, CreationDate: of.at, ModDate: of.at },
  })
  const chunks: Buffer[] = []
  pdf.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve, reject) => {
    pdf.once('end', resolve)
    pdf.once('error', reject)
  })
  pdf.registerFont('text', font).font('text')
  return {
    pdf,
    async bytes(): Promise<Buffer> {
      pdf.end()
      await ended
      return Buffer.concat(chunks)
    },
  }
}
