import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import { Prec, type Extension } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { PromQLExtension, type PrometheusClient } from '@prometheus-io/codemirror-promql'
import { prometheus } from '@zhisuan/contract/omc/monitor'
import { useMemo, useRef } from 'react'
import { request } from '../../api/client.ts'
import { CodeEditorView, type CodeEditorProps } from '../../kit/codeEditorView.tsx'

/** More names than these slow each key down, and nobody reads on. */
const namesMost = 10_000

/** Names and labels for completion, from what may be asked: of a tenant its own. */
function clientOf(id: string): PrometheusClient {
  const known = new Map<string, Promise<string[]>>()
  const asked = (query: string, label: string | null): Promise<string[]> => {
    const key = `${label} ${query}`
    const before = known.get(key)
    if (before !== undefined) return before
    const answer = request(prometheus.query, { params: { id }, query: { query } }).then(
      ({ series }) => [...new Set(series.flatMap(({ labels }) => (label === null ? Object.keys(labels) : (labels[label] ?? []))))].slice(0, namesMost),
      () => {
        known.delete(key)
        return []
      },
    )
    known.set(key, answer)
    return answer
  }
  const selector = (metric: string | undefined): string => (metric === undefined || metric === '' ? '{__name__=~".+"}' : metric)
  return {
    metricNames: () => asked('count by (__name__) ({__name__=~".+"})', '__name__'),
    labelNames: (metric) => (metric === undefined || metric === '' ? Promise.resolve(['job', 'instance', 'node', 'node_id']) : asked(selector(metric), null)),
    labelValues: (label, metric) => asked(`count by (${label}) (${selector(metric)})`, label),
    metricMetadata: () => Promise.resolve({}),
    series: () => Promise.resolve([]),
    flags: () => Promise.resolve({}),
  }
}

/** The chunk of {@link PromqlEditor}. */
export default function PromqlView({ instanceId, onRun, ...props }: CodeEditorProps & { readonly instanceId: string; readonly onRun: () => void }) {
  const run = useRef(onRun)
  run.current = onRun
  const language = useMemo<Extension>(
    () => [
      new PromQLExtension()
        .setComplete({ remote: clientOf(instanceId) })
        .activateLinter(false)
        .asExtension(),
      autocompletion(),
      Prec.highest(
        keymap.of([
          ...completionKeymap,
          {
            key: 'Mod-Enter',
            run: () => {
              run.current()
              return true
            },
          },
        ]),
      ),
      EditorView.lineWrapping,
    ],
    [instanceId],
  )
  return <CodeEditorView {...props} language={language} />
}
