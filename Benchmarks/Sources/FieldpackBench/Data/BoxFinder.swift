import Fieldpack

/// Finds boxes that hold a given number of points.
struct BoxFinder {
  private let points: [BenchmarkData.Point]
  private let cells: Int
  private let size: (Double, Double)
  private var starts: [Int]
  private var order: [Int]

  /// Sorts the points into a grid of about two a cell.
  init(_ points: [BenchmarkData.Point]) {
    self.points = points
    cells = max(1, Int((Double(points.count) / 2).squareRoot()))
    size = (20 / Double(cells), 10 / Double(cells))
    starts = Array(repeating: 0, count: cells * cells + 1)
    order = Array(repeating: 0, count: points.count)
    for point in points { starts[cell(point) + 1] += 1 }
    for index in 1..<starts.count { starts[index] += starts[index - 1] }
    var next = starts
    for (index, point) in points.enumerated() {
      let cell = cell(point)
      order[next[cell]] = index
      next[cell] += 1
    }
  }

  private func column(_ x: Double) -> Int { min(max(Int((x - 5) / size.0), 0), cells - 1) }
  private func row(_ y: Double) -> Int { min(max(Int((y - 45) / size.1), 0), cells - 1) }
  private func cell(_ point: BenchmarkData.Point) -> Int {
    row(point.y) * cells + column(point.x)
  }

  /// Squares around points of the set, with borders halfway between the point that is the last
  /// inside and the next one.
  func boxes(_ count: Int, holding wanted: Int) -> [Envelope] {
    var random = Random(seed: 99)
    return (0..<count).map { _ in
      let centre = points[random.integer(below: points.count)]
      var half = 0.01
      while true {
        let distances = distances(from: centre, within: half)
        if distances.count > wanted {
          let border = (distances[wanted - 1] + distances[wanted]) / 2
          return square(centre, border)
        }
        half *= 2
      }
    }
  }

  /// The distances, in the maximum norm, of the points within `half`, ascending.
  private func distances(from centre: BenchmarkData.Point, within half: Double) -> [Double] {
    var found: [Double] = []
    for row in row(centre.y - half)...row(centre.y + half) {
      let first = row * cells + column(centre.x - half)
      let last = row * cells + column(centre.x + half)
      for place in starts[first]..<starts[last + 1] {
        let point = points[order[place]]
        let distance = max(abs(point.x - centre.x), abs(point.y - centre.y))
        if distance <= half { found.append(distance) }
      }
    }
    return found.sorted()
  }

  private func square(_ centre: BenchmarkData.Point, _ half: Double) -> Envelope {
    Envelope(
      minX: centre.x - half, minY: centre.y - half, maxX: centre.x + half, maxY: centre.y + half)
  }

  /// The box around the middle that holds a quarter of the points.
  static func quarter(_ points: [BenchmarkData.Point]) -> Envelope {
    let distances = points.map { max(abs($0.x - 15), 2 * abs($0.y - 50)) }.sorted()
    let half = distances[points.count / 4]
    return Envelope(minX: 15 - half, minY: 50 - half / 2, maxX: 15 + half, maxY: 50 + half / 2)
  }
}
