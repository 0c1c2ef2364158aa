import FieldpackCore
import FieldpackGeometry

/// Writes rows into a layer of a vector tile.
struct TileRowSink: FeatureSink {
  let writer: TileLayerWriter
  /// The features that the tile has; `nil` for all.
  let chosen: Set<Int64>?
  /// The number of features whose geometry cannot be read or has no place.
  private(set) var skipped = 0
  private var shape: TileShape
  private var columns: [Int] = []
  /// Whether 0 and 1 in a column are flags.
  private var holdsFlags: [Bool] = []
  private var names: [String] = []
  /// The keys of the columns, -1 where none has been written.
  private var keys: [Int] = []
  private var cells = RowCells()

  init(_ writer: TileLayerWriter, on plane: TilePlane, chosen: Set<Int64>? = nil) {
    self.writer = writer
    self.chosen = chosen
    shape = TileShape(on: plane)
  }

  mutating func begin(_ schema: Schema) {
    columns = Array(schema.columns.indices)
    holdsFlags = schema.columns.map { $0.type == .boolean }
    names = schema.columns.map(\.name)
    keys = columns.map { _ in -1 }
  }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
    let id = row.id
    if let chosen, !chosen.contains(TileCandidates.number(of: id)) { return }
    switch row.withGeometry({ shape.take(wkb: $0) }) {
    case .shown?: break
    case .unreadable?:
      skipped += 1
      return
    case .outside?, nil: return
    }
    writer.begin(id)
    if !columns.isEmpty {
      cells.removeAll(keptBytes: 1 << 20)
      row.append(columns, to: &cells)
      addProperties()
    }
    writer.write(shape)
  }

  private mutating func addProperties() {
    for column in columns {
      let cell = cells.cells[column]
      guard cell.kind != .null, cell.kind != .blob else { continue }
      if keys[column] < 0 { keys[column] = writer.addKey(names[column]) }
      let key = keys[column]
      switch cell.kind {
      case .integer:
        if holdsFlags[column], 0...1 ~= cell.integer {
          writer.add(key, flag: cell.integer == 1)
        } else {
          writer.add(key, integer: cell.integer)
        }
      case .real: writer.add(key, real: cell.real)
      default:
        cells.bytes.withUnsafeBufferPointer { bytes in
          writer.add(key, text: UnsafeBufferPointer(rebasing: bytes[cell.range]))
        }
      }
    }
  }
}

extension TileLayerWriter {
  /// Writes the feature that has begun, once for each kind of geometry.
  func write(_ shape: borrowing TileShape) {
    if !shape.points.isEmpty {
      geometry { commands in
        if shape.points.count == 1 {
          commands.point(shape.points[0])
        } else {
          commands.points(shape.points)
        }
      }
      end(.points)
    }
    if !shape.lineStarts.isEmpty {
      geometry { commands in
        for (number, start) in shape.lineStarts.enumerated() {
          let next = number + 1
          let end = next < shape.lineStarts.count ? shape.lineStarts[next] : shape.lines.count
          commands.line(shape.lines[start..<end])
        }
      }
      end(.lines)
    }
    if !shape.polygons.isEmpty {
      geometry { commands in
        for ring in shape.polygons.rings {
          commands.ring(shape.polygons.positions[ring.range], isReversed: ring.isReversed)
        }
      }
      end(.polygons)
    }
  }
}
