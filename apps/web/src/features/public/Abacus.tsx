/** Rods, each with the heights at which its beads lie, in rows from the top. The one bead of another colour is the one just moved. */
const rods: readonly (readonly number[])[] = [
  [0, 5, 6, 7],
  [1, 2, 6, 7],
  [0, 1, 2, 7],
  [0, 4, 5, 6],
  [1, 5, 6, 7],
  [0, 1, 6, 7],
]
const moved = { rod: 3, row: 4 }
const rows = 8
const step = 64
const pitch = 46

/** The abacus (算) that the name and the mark come from. Decoration only. */
export function Abacus() {
  const width = (rods.length - 1) * step + 88
  const height = rows * pitch + 24
  return (
    <svg className="zs-abacus" viewBox={`0 0 ${width} ${height}`} aria-hidden="true" focusable="false">
      {rods.map((beads, rod) => (
        <g key={rod} transform={`translate(${44 + rod * step} 0)`}>
          <line x1="0" y1="0" x2="0" y2={height} className="zs-abacus-rod" />
          {beads.map((row) => (
            <rect
              key={row}
              x="-25"
              y={12 + row * pitch + 4}
              width="50"
              height={pitch - 8}
              rx={(pitch - 8) / 2}
              className={rod === moved.rod && row === moved.row ? 'zs-abacus-moved' : 'zs-abacus-bead'}
            />
          ))}
        </g>
      ))}
      <line x1="0" y1={12 + 3 * pitch + 23} x2={width} y2={12 + 3 * pitch + 23} className="zs-abacus-beam" />
    </svg>
  )
}
