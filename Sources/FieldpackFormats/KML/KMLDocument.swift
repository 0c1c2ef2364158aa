import FieldpackCore
import FieldpackGeometry

/// Makes rows of the events of a KML document.
final class KMLDocument: XMLHandling {
  /// The feature that is open.
  private struct Feature {
    var line: Int
    var isOverlay: Bool
    let builder: KMLLayerBuilder
    var failure: (error: FieldpackError, line: Int)?
    var styleURL: String?
    var style: KMLStyle?
    /// The fields that a schema of KML 2.0 gives its elements.
    var oldFields: [String: KMLField.Kind] = [:]
  }

  private let options: ReadOptions
  private let file: String
  private var folders: KMLFolders
  private var tags = KMLTagTable()
  private var stack: [KMLTag] = []
  /// The depth in an element that is not read.
  private var ignored = 0
  private var text: [UInt8] = []
  private var gathersText = false
  private var feature: Feature?
  private var shape = KMLShape()
  private var track = KMLTrack()
  private var box = KMLBox()
  private var schemas = KMLSchemas()
  private var dataName = ""
  private var dataKind = KMLField.Kind.text
  private(set) var styles: KMLStyles
  private var styleReading = KMLStyleReading()
  private var skipped: SkippedFeatures
  private var links = 0
  private var overlays = 0
  /// Features whose style was not there when they ended.
  private(set) var withoutStyle = 0

  init(options: ReadOptions, file: String, asked: [FileLayer], styles: KMLStyles) {
    self.options = options
    self.file = file
    self.styles = styles
    folders = KMLFolders(options: options, asked: asked)
    skipped = SkippedFeatures(limit: options.skippedLimit)
  }

  // MARK: Results

  var found: [FileLayer] { folders.builders.compactMap(\.found) }

  var result: FileReadResult {
    var result = FileReadResult(layers: found, skipped: skipped)
    for builder in folders.builders where builder.count > 0 && builder.isWanted {
      result.counts[builder.layer] = builder.count
      result.notes += builder.notes.map { Note("layer '\(builder.layer)': \($0)") }
    }
    let left: [(Int, String)] = [
      (links, "network links are not followed"),
      (overlays, "overlays and tours without a place on the map are left out"),
      (withoutStyle, "features name a style that is not in the file"),
    ]
    result.notes += left.filter { $0.0 > 0 }.map { Note("\($0.0) \($0.1)") }
    return result
  }

  func drain(
    _ announced: inout LayerID?, into sink: inout some FeatureSink
  ) throws(FieldpackError) {
    for builder in folders.builders { try builder.drain(&announced, into: &sink) }
  }

  // MARK: Events

  func startElement(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    in parser: XMLPushParser
  ) throws(FieldpackError) {
    guard ignored == 0 else {
      ignored += 1
      return
    }
    var tag = tags.tag(of: name)
    if tag == .other { tag = oldTag(name) }
    if stack.isEmpty { try checkRoot(tag, name) }
    guard tag != .other else {
      ignored = 1
      return
    }
    if tag.isFeature { try startFeature(tag, attributes, parser) } else { start(tag, attributes) }
    stack.append(tag)
    text.removeAll(keepingCapacity: text.count < 1 << 20)
    gathersText = tag.holdsText
  }

  func characters(
    _ bytes: UnsafeBufferPointer<UInt8>, in parser: XMLPushParser
  ) throws(FieldpackError) {
    if gathersText, ignored == 0 { text.append(contentsOf: bytes) }
  }

  func endElement(_ name: XMLName, in parser: XMLPushParser) throws(FieldpackError) {
    guard ignored == 0 else {
      ignored -= 1
      return
    }
    guard let tag = stack.popLast() else { return }
    gathersText = false
    if tag.isFeature {
      try endFeature(tag)
    } else if tag.holdsText {
      let taken = text
      taken.withUnsafeBufferPointer { end(tag, $0, parser.line) }
    } else {
      end(tag)
    }
  }

  private func checkRoot(_ tag: KMLTag, _ name: XMLName) throws(FieldpackError) {
    guard tag == .kml || tag.isFeature else {
      throw FieldpackError(
        .invalidData, "not a KML file: its root element is '\(String(cString: name.local))'")
    }
  }

  /// What a schema of KML 2.0 makes of a name that KML does not know.
  private func oldTag(_ name: XMLName) -> KMLTag {
    guard let parent = stack.last, schemas.hasElements else { return .other }
    let local = String(cString: name.local)
    if parent.isContainer, schemas.fields(ofElement: local) != nil {
      dataName = local
      return .placemark
    }
    guard parent == .placemark, let kind = feature?.oldFields[local] else { return .other }
    (dataName, dataKind) = (local, kind)
    return .oldField
  }

  // MARK: Features

  private func startFeature(
    _ tag: KMLTag, _ attributes: XMLAttributes, _ parser: XMLPushParser
  ) throws(FieldpackError) {
    guard feature == nil else { return }
    switch tag {
    case .document, .folder: folders.begin()
    case .placemark, .groundOverlay:
      let builder = try folders.builder()
      folders.count()
      feature = Feature(line: parser.line, isOverlay: tag == .groundOverlay, builder: builder)
      if schemas.hasElements, let fields = schemas.fields(ofElement: dataName) {
        feature?.oldFields = fields
      }
      shape.reset()
      box = KMLBox()
      if let id = attributes.text("id") { builder.set(.id, id) }
    default:
      folders.count()
      if tag == .networkLink { links += 1 } else { overlays += 1 }
    }
  }

  private func endFeature(_ tag: KMLTag) throws(FieldpackError) {
    if tag.isContainer {
      if feature == nil { folders.close() }
      return
    }
    guard let ended = feature, tag == .placemark || tag == .groundOverlay, isOutside else { return }
    feature = nil
    dataName = ""
    if let (error, line) = ended.failure ?? boxFailure(ended) {
      ended.builder.clear()
      let position = FilePosition(file: file, line: line)
      guard options.skipsErrors else { throw error.adding(position: position) }
      skipped.add(
        SkippedFeature(
          location: .init(layer: ended.builder.layer), position: position, reason: error.message))
      return
    }
    setStyle(ended)
    ended.builder.close(shape)
  }

  /// Whether no feature is open but the one that ends.
  private var isOutside: Bool {
    !stack.contains { $0 == .placemark || $0 == .groundOverlay }
  }

  private func boxFailure(_ overlay: Feature) -> (error: FieldpackError, line: Int)? {
    guard overlay.isOverlay, shape.isEmpty else { return nil }
    do throws(FieldpackError) {
      try box.add(to: &shape)
      return nil
    } catch {
      return (error, overlay.line)
    }
  }

  private func setStyle(_ feature: Feature) {
    var style = feature.style
    if let url = feature.styleURL {
      if var shared = styles.style(url) {
        if let own = style { shared.overwrite(with: own) }
        style = shared
      } else if url.hasPrefix("#") {
        withoutStyle += 1
      }
    }
    guard let style else { return }
    let builder = feature.builder
    if shape.hasPoints, let color = style.iconColor {
      builder.set(.markerColor, KMLStyle.hex(color))
    }
    if shape.hasLines || shape.hasAreas {
      if let color = style.lineColor {
        builder.set(.stroke, KMLStyle.hex(color))
        builder.set(.strokeOpacity, KMLStyle.opacity(color))
      }
      if let width = style.lineWidth { builder.set(.strokeWidth, width) }
    }
    guard shape.hasAreas else { return }
    if let color = style.areaColor { builder.set(.fill, KMLStyle.hex(color)) }
    if style.fills == false {
      builder.set(.fillOpacity, 0)
    } else if let color = style.areaColor {
      builder.set(.fillOpacity, KMLStyle.opacity(color))
    }
  }

  // MARK: Other elements

  private func start(_ tag: KMLTag, _ attributes: XMLAttributes) {
    switch tag {
    case .style, .styleMap: styleReading.begin(id: attributes.text("id") ?? "")
    case .schema: schemas.begin(attributes)
    case .simpleField: schemas.addField(attributes)
    case .data: (dataName, dataKind) = (attributes.text("name") ?? "", .text)
    case .schemaData: schemas.choose(attributes.text("schemaUrl") ?? "")
    case .simpleData:
      dataName = attributes.text("name") ?? ""
      dataKind = schemas.kind(ofChosen: dataName)
    case .point: begin(.point)
    case .lineString: begin(.line)
    case .linearRing: begin(shape.openKind == .polygon ? .ring : .line)
    case .polygon: begin(.polygon)
    case .multiGeometry, .multiTrack: begin(.collection)
    case .track:
      begin(.line)
      track.reset()
    // The model of a track stands nowhere itself.
    case .model where stack.last != .track:
      begin(.point)
      box = KMLBox()
    case .latLonQuad:
      begin(.polygon)
      begin(.ring)
    default: break
    }
  }

  private func begin(_ kind: KMLShape.Kind) {
    guard feature != nil else { return }
    do throws(FieldpackError) { try shape.begin(kind) } catch { fail(error, feature?.line ?? 0) }
  }

  private func fail(_ error: FieldpackError, _ line: Int) {
    if feature?.failure == nil { feature?.failure = (error, line) }
  }

  /// Ends an element that holds others.
  private func end(_ tag: KMLTag) {
    switch tag {
    case .style:
      if stack.last == .placemark {
        feature?.style = styleReading.style
        styleReading.end(&styles)
      } else if stack.last == .pair {
        styleReading.endPair(inline: true, &styles)
      } else {
        styleReading.end(&styles)
      }
    case .pair: styleReading.endPair(inline: false, &styles)
    case .styleMap:
      let map = styleReading.endMap(&styles)
      guard stack.last == .placemark else { return }
      if let link = map.link { feature?.styleURL = link } else { feature?.style = map.style }
    case .point, .lineString, .linearRing, .polygon, .multiGeometry, .multiTrack:
      if feature != nil { shape.end() }
    case .track, .model:
      guard feature != nil, tag == .track || stack.last != .track else { return }
      if tag == .track { track.add(to: &shape) } else { box.addPosition(to: &shape) }
      shape.end()
    case .latLonQuad:
      guard feature != nil else { return }
      shape.end()
      shape.end()
    default: break
    }
  }

  /// Ends an element that holds text.
  private func end(_ tag: KMLTag, _ text: UnsafeBufferPointer<UInt8>, _ line: Int) {
    guard let parent = stack.last else { return }
    if parent.isContainer {
      if tag == .name, feature == nil {
        folders.name(String(decoding: trimmed(text), as: UTF8.self))
      }
      return
    }
    if styleReading.take(tag, text, in: parent) { return }
    guard let feature else { return }
    let builder = feature.builder
    switch (parent, tag) {
    case (.placemark, _), (.groundOverlay, _): endAttribute(tag, text, builder)
    case (.timeStamp, .when): builder.set(.timestamp, text)
    case (.timeSpan, .begin): builder.set(.begin, text)
    case (.timeSpan, .end): builder.set(.end, text)
    case (.icon, .href) where feature.isOverlay: builder.set(.icon, text)
    case (.data, .value), (.schemaData, .simpleData): builder.set(extra: dataName, dataKind, text)
    case (_, .coordinates), (.track, .coord):
      do throws(FieldpackError) {
        if tag == .coord { try track.add(coord: text) } else { try shape.add(coordinates: text) }
      } catch { fail(error, line) }
    case (.track, .when): track.add(when: text)
    case (.latLonBox, _), (.location, _): box.take(tag, text)
    case (_, .altitudeMode): builder.set(.altitudeMode, text)
    case (_, .tessellate): builder.set(.tessellate, text)
    case (_, .extrude): builder.set(.extrude, text)
    default: break
    }
  }

  private func endAttribute(
    _ tag: KMLTag, _ text: UnsafeBufferPointer<UInt8>, _ builder: KMLLayerBuilder
  ) {
    switch tag {
    case .name: builder.set(.name, text)
    case .description: builder.set(.description, text)
    case .visibility: builder.set(.visibility, text)
    case .address: builder.set(.address, text)
    case .phoneNumber: builder.set(.phoneNumber, text)
    case .snippet: builder.set(.snippet, text)
    case .drawOrder: builder.set(.drawOrder, text)
    case .altitudeMode: builder.set(.altitudeMode, text)
    case .altitude: box.take(tag, text)
    case .styleUrl: feature?.styleURL = String(decoding: trimmed(text), as: UTF8.self)
    case .oldField: builder.set(extra: dataName, dataKind, text)
    default: break
    }
  }
}
