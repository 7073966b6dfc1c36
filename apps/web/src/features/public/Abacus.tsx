import './public.css'
/** 65536 on a suanpan: two beads of five above the beam, five of one below it. */
const digits = [6, 5, 5, 3, 6] as const
const step = 72
const pitch = 42
const upperSlots = 3
const lowerSlots = 6
const beamHeight = 14

/** Beads that count lie at the beam, the others away from it. */
const upperBeads = (digit: number): number[] => (digit >= 5 ? [0, 2] : [0, 1])
const lowerBeads = (digit: number): number[] => Array.from({ length: 5 }, (_, bead) => (bead < digit % 5 ? bead : bead + 1))

const top = 6
const beamTop = top + upperSlots * pitch
const lowerTop = beamTop + beamHeight
const height = lowerTop + lowerSlots * pitch + top
const width = digits.length * step

/** The abacus (算) that the name and the mark come from. Decoration only. */
export function Abacus() {
  return (
    <svg className="public-abacus" viewBox={`0 0 ${width} ${height}`} aria-hidden="true" focusable="false">
      {digits.map((digit, rod) => (
        <g key={rod} transform={`translate(${(rod + 0.5) * step} 0)`}>
          <line x1="0" y1="0" x2="0" y2={height} className="public-abacus-rod" />
          {upperBeads(digit).map((slot) => (
            <Bead key={`u${slot}`} y={top + slot * pitch} />
          ))}
          {lowerBeads(digit).map((slot) => (
            <Bead key={`l${slot}`} y={lowerTop + slot * pitch} moved={rod === digits.length - 1 && slot === 0} />
          ))}
        </g>
      ))}
      <rect x="0" y={beamTop + 4} width={width} height={beamHeight - 8} rx="3" className="public-abacus-beam" />
    </svg>
  )
}

const Bead = ({ y, moved = false }: { readonly y: number; readonly moved?: boolean }) => (
  <rect x="-28" y={y + 3} width="56" height={pitch - 6} rx={(pitch - 6) / 2} className={moved ? 'public-abacus-moved' : 'public-abacus-bead'} />
)
