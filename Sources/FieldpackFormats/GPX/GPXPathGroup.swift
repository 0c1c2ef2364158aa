import FieldpackCore

/// The routes or tracks of one layer and of the layer of their points, put together at the end.
struct GPXPathGroup {
  let element: String
  let isTrack: Bool

  private struct Path {
    var id: FeatureID
    var head: GPXSpool.Extent
    var body: GPXSpool.Extent
    /// The segments that are EMPTY in the layer of paths.
    var emptySegments: [Int64]
  }

  /// Points that follow each other in one segment.
  private struct Run {
    var segment: Int64
    var first: Int64
    var last: Int64
    var extent: GPXSpool.Extent
  }

  private var whole: [GPXSpool.Extent] = []
  private var paths: [Path] = []
  private var runs: [Int64?: [Run]] = [:]
  private var order: [Int64?] = []

  init(isTrack: Bool) {
    self.isTrack = isTrack
    element = isTrack ? "trk" : "rte"
  }

  /// Adds paths that are written from their tags to their ends, and have no points elsewhere.
  mutating func addWhole(_ extent: GPXSpool.Extent) {
    if let last = whole.indices.last, whole[last].end == extent.offset {
      whole[last].length += extent.length
    } else {
      whole.append(extent)
    }
  }

  /// Puts paths before all others.
  mutating func addFirst(whole extent: GPXSpool.Extent) { whole.insert(extent, at: 0) }

  mutating func addPath(
    id: FeatureID, head: GPXSpool.Extent, body: GPXSpool.Extent, emptySegments: [Int64]
  ) {
    paths.append(Path(id: id, head: head, body: body, emptySegments: emptySegments))
  }

  /// Adds a point to its path; points that come one after the other are kept as one run.
  mutating func addPoint(
    path: Int64?, segment: Int64, number: Int64?, _ extent: GPXSpool.Extent
  ) {
    let last = runs[path]?.last
    let next = number ?? (last.map { $0.last &+ 1 } ?? 0)
    if runs[path] == nil { order.append(path) }
    if let last, last.segment == segment, last.extent.end == extent.offset, last.last < next {
      let index = (runs[path]?.count ?? 1) - 1
      runs[path]?[index].last = next
      runs[path]?[index].extent.length += extent.length
    } else {
      runs[path, default: []].append(
        Run(segment: segment, first: next, last: next, extent: extent))
    }
  }

  /// Writes every path once: with its points where there are any, else with its geometry.
  func write(_ spool: GPXSpool, to output: ByteOutput) throws(FieldpackError) {
    for extent in whole { try spool.copy(extent, to: output) }
    var written: Set<Int64?> = []
    for path in paths {
      output.buffer.append(contentsOf: "<\(element)>".utf8)
      try spool.copy(path.head, to: output)
      output.buffer.append(UInt8(ascii: "\n"))
      if case .integer(let id) = path.id, let points = runs[id], written.insert(id).inserted {
        let nothing = GPXSpool.Extent(offset: 0, length: 0)
        let empty = path.emptySegments.map {
          Run(segment: $0, first: 0, last: 0, extent: nothing)
        }
        try write(points + empty, spool, to: output)
      } else {
        try spool.copy(path.body, to: output)
      }
      output.buffer.append(contentsOf: "</\(element)>\n".utf8)
    }
    for id in order where !written.contains(id) {
      output.buffer.append(contentsOf: "<\(element)>\n".utf8)
      try write(runs[id] ?? [], spool, to: output)
      output.buffer.append(contentsOf: "</\(element)>\n".utf8)
    }
  }

  private func write(
    _ runs: [Run], _ spool: GPXSpool, to output: ByteOutput
  ) throws(FieldpackError) {
    let sorted = runs.sorted { ($0.segment, $0.first) < ($1.segment, $1.first) }
    var segment: Int64?
    for run in sorted {
      if isTrack, run.segment != segment {
        output.buffer.append(
          contentsOf: (segment == nil ? "<trkseg>\n" : "</trkseg>\n<trkseg>\n").utf8)
        segment = run.segment
      }
      try spool.copy(run.extent, to: output)
    }
    if segment != nil { output.buffer.append(contentsOf: "</trkseg>\n".utf8) }
  }
}
