/// The parts of one feature as they are drawn, and where its label belongs.
struct FeatureShape {
  private var polygon = SVGPath()
  private var line = SVGPath()
  private var dots: [(dot: SVGLayer.Dot, isSpeck: Bool)] = []
  /// The place of the label, with how much of the feature is around it.
  private var anchor: (at: SVGLayer.Dot, extent: Int, kind: SVGFeature.Kind)?

  mutating func add(_ shape: MapShape, of layer: SVGLayer) {
    switch shape {
    case .point(let point):
      guard let dot = layer.dot(at: point) else { return }
      dots.append((dot, false))
      offer(dot, 0, .point)
    case .line(let points):
      let (path, speck) = layer.path(points)
      add(speck)
      line.append(path)
      let kept = layer.simplified(points)
      guard kept.count > 1 else { return }
      offer(Self.middle(of: kept), Self.extent(kept), .line)
    case .polygon(let rings):
      let (path, speck) = layer.outline(rings)
      add(speck)
      polygon.append(path)
      guard speck == nil, let outer = rings.first else { return }
      let kept = rings.map { layer.simplified($0) }
      offer(Self.inside(kept), Self.extent(layer.simplified(outer)), .polygon)
    }
  }

  private mutating func add(_ speck: SVGLayer.Dot?) {
    guard let speck else { return }
    dots.append((speck, true))
    offer(speck, 0, .point)
  }

  private mutating func offer(_ at: SVGLayer.Dot, _ extent: Int, _ kind: SVGFeature.Kind) {
    if let anchor, anchor.extent >= extent { return }
    anchor = (at, extent, kind)
  }

  private static func extent(_ points: [(x: Int, y: Int)]) -> Int {
    guard let first = points.first else { return 0 }
    var (west, east, north, south) = (first.x, first.x, first.y, first.y)
    for point in points {
      (west, east) = (min(west, point.x), max(east, point.x))
      (north, south) = (min(north, point.y), max(south, point.y))
    }
    return east - west + south - north
  }

  private static func middle(of points: [(x: Int, y: Int)]) -> SVGLayer.Dot {
    let point = points[points.count / 2]
    if points.count == 2 {
      return SVGLayer.Dot(x: (points[0].x + point.x) / 2, y: (points[0].y + point.y) / 2)
    }
    return SVGLayer.Dot(x: point.x, y: point.y)
  }

  /// The middle of the widest part of a polygon at half its height, which is always inside.
  private static func inside(_ rings: [[(x: Int, y: Int)]]) -> SVGLayer.Dot {
    let outer = rings.first ?? []
    let (north, south) = (outer.map(\.y).min() ?? 0, outer.map(\.y).max() ?? 0)
    let y = Double(north) / 2 + Double(south) / 2 + 0.25
    var crossings: [Double] = []
    for ring in rings {
      for (a, b) in zip(ring, ring.dropFirst() + ring.prefix(1))
      where (Double(a.y) < y) != (Double(b.y) < y) {
        crossings.append(
          Double(a.x) + (y - Double(a.y)) / Double(b.y - a.y) * Double(b.x - a.x))
      }
    }
    crossings.sort()
    var best = (width: -1.0, x: Double(outer.first?.x ?? 0))
    for index in stride(from: 0, to: crossings.count - 1, by: 2) {
      let width = crossings[index + 1] - crossings[index]
      if width > best.width { best = (width, (crossings[index] + crossings[index + 1]) / 2) }
    }
    return SVGLayer.Dot(x: Int(best.x.rounded()), y: Int(y.rounded(.down)))
  }

  /// The elements of the feature, and its label where it has one.
  func elements(of mark: MapMark, row: String?) -> (features: [SVGFeature], label: MapLabel?) {
    var features: [SVGFeature] = []
    if !polygon.bytes.isEmpty { features.append(SVGFeature(kind: .polygon, path: polygon.bytes)) }
    if !line.bytes.isEmpty {
      features.append(
        SVGFeature(
          kind: .line, path: line.bytes,
          size: mark.share.map { Int((MapSizes.width($0) * 10).rounded()) }))
    }
    for (dot, isSpeck) in dots {
      let radius = isSpeck ? 10 : mark.share.map { Int((MapSizes.radius($0) * 10).rounded()) }
      features.append(SVGFeature(kind: .point, dot: dot, size: radius))
    }
    for index in features.indices { features[index].row = row }
    guard let text = mark.label, let anchor, !text.isEmpty else { return (features, nil) }
    return (
      features,
      MapLabel(
        text, at: anchor.at, kind: anchor.kind,
        reach: anchor.kind == .point ? MapSizes.radius(mark.share) : 0)
    )
  }
}
