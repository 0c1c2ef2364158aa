import FieldpackCore

/// What the JSON files of a capture say, in any of the three forms that were ever written.
///
/// The form of today has `capture-info.json` with `token` and `coords`, and geo-data with `coords`.
/// The one before had the capture in a member `capture` of the album's, the first one all in a
/// member `track` of one file; both had numbers in quotes.
struct CaptureReading {
  var info: CaptureInfo
  var geodata: CaptureGeodata

  static let infoFile = "capture-info.json"

  /// - Parameters:
  ///   - stem: what the capture's folder is called, or its files in the older forms.
  ///   - geodata: reads the file of that name, as the info states it.
  init(
    info node: JSONValue, file: String, stem: String,
    geodata read: (String) throws(FieldpackError) -> JSONValue
  ) throws(FieldpackError) {
    var members = try JSONMembers(node, of: file)
    if let track = members.take("track") {
      (info, geodata) = try Self.first(try JSONMembers(track, of: "\(file)/track"), members, stem)
    } else if let capture = members.take("capture") {
      geodata = try Self.geodata(try read("\(stem)_geo_data.json"))
      info = try Self.second(
        try JSONMembers(capture, of: "\(file)/capture"), members, stem, geodata)
    } else {
      info = try Self.current(&members, stem)
      geodata = try Self.geodata(try read(info.geodataFile))
    }
  }

  // MARK: The form of today

  private static func current(
    _ members: inout JSONMembers, _ stem: String
  ) throws(FieldpackError) -> CaptureInfo {
    guard let coordinates = try members.coordinates() else {
      throw FieldpackError(.invalidData, "\(infoFile) has no 'coords'")
    }
    var info = CaptureInfo(
      token: try members.text("token") ?? stem, kind: try kind(&members, "media_type"),
      longitude: coordinates.longitude, latitude: coordinates.latitude,
      heading: try members.number("heading"), createdAt: try members.required("created_at"))
    info.title = try members.text("title") ?? CaptureInfo.untitled
    info.uploadedAtStated = try members.number("uploaded_at") ?? 0
    info.orientation = orientation(&members)
    if let file = try members.text("geodata_file") { info.geodataFile = file }
    if let file = try members.text("thumbnail_file") { info.thumbnailFile = file }
    if let file = try members.text("media_file") { info.mediaFile = file }
    info.extraJSON = members.rest
    return try checked(info)
  }

  // MARK: The older forms

  private static func second(
    _ capture: JSONMembers, _ album: JSONMembers, _ stem: String, _ geodata: CaptureGeodata
  ) throws(FieldpackError) -> CaptureInfo {
    var (capture, album) = (capture, album)
    let first = try start(of: geodata)
    let coordinates = try capture.coordinates()
    var info = CaptureInfo(
      token: try capture.text("capture_token") ?? stem, kind: try kind(&capture, "media_type"),
      longitude: coordinates?.longitude ?? first.longitude,
      latitude: coordinates?.latitude ?? first.latitude, heading: first.heading,
      createdAt: try capture.required("created_at"))
    info.title = try capture.text("title") ?? CaptureInfo.untitled
    info.orientation = orientation(&capture)
    // The album's title is not the capture's.
    album.rename("title", "album_title")
    capture.append(album)
    info.extraJSON = capture.rest
    return try checked(info)
  }

  private static func first(
    _ track: JSONMembers, _ others: JSONMembers, _ stem: String
  ) throws(FieldpackError) -> (CaptureInfo, CaptureGeodata) {
    var track = track
    let geodata = CaptureGeodata(points: try points(track.take("points"), of: "track"))
    let first = try start(of: geodata)
    var info = CaptureInfo(
      token: stem, kind: try kind(&track, "tracktype"), longitude: first.longitude,
      latitude: first.latitude, heading: first.heading,
      createdAt: try track.required("captureDate"))
    info.title = try track.text("title") ?? CaptureInfo.untitled
    info.uploadedAtStated = try track.number("uploadDate") ?? 0
    info.orientation = orientation(&track)
    track.append(others)
    info.extraJSON = track.rest
    return (try checked(info), geodata)
  }

  // MARK: Geo-data

  private static func geodata(_ node: JSONValue) throws(FieldpackError) -> CaptureGeodata {
    var members = try JSONMembers(node, of: "geo-data")
    var geodata = CaptureGeodata(points: try points(members.take("points"), of: "geo-data"))
    geodata.extraJSON = members.rest
    return geodata
  }

  private static func points(
    _ node: JSONValue?, of subject: String
  ) throws(FieldpackError) -> [CapturePoint] {
    guard case .array(let nodes)? = node, !nodes.isEmpty else {
      throw FieldpackError(.invalidData, "\(subject) has no points")
    }
    var points: [CapturePoint] = []
    points.reserveCapacity(nodes.count)
    for (index, node) in nodes.enumerated() {
      points.append(try point(try JSONMembers(node, of: "\(subject) point \(index)")))
    }
    return points
  }

  /// A point of geo-data.
  static func point(_ members: JSONMembers) throws(FieldpackError) -> CapturePoint {
    var members = members
    let position: (latitude: Double, longitude: Double)
    if let coordinates = try members.coordinates() {
      position = coordinates
    } else {
      let latitude = try members.required("latitude")
      position = try members.onEarth(latitude, try members.required("longitude"))
    }
    var point = CapturePoint(
      time: try members.required("timestamp"), longitude: position.longitude,
      latitude: position.latitude, heading: try members.number("heading"),
      accuracy: try members.number("accuracy"))
    point.extraJSON = members.rest
    return point
  }

  private static func start(of geodata: CaptureGeodata) throws(FieldpackError) -> CapturePoint {
    guard let first = geodata.points.first else {
      throw FieldpackError(.invalidData, "geo-data has no points")
    }
    return first
  }

  // MARK: Values

  private static func kind(
    _ members: inout JSONMembers, _ name: String
  ) throws(FieldpackError) -> CaptureInfo.MediaKind {
    let text = try members.text(name)
    guard let kind = text.flatMap(CaptureInfo.MediaKind.init) else {
      throw FieldpackError(
        .invalidData, "'\(name)' should be image or video but is '\(text?.prefix(40) ?? "missing")'"
      )
    }
    return kind
  }

  /// What is neither of both words is kept with what is not known.
  private static func orientation(_ members: inout JSONMembers) -> CaptureInfo.Orientation? {
    var copy = members
    guard case .text(let text)? = copy.take("orientation"),
      let orientation = CaptureInfo.Orientation(rawValue: text)
    else { return nil }
    members = copy
    return orientation
  }

  private static func checked(_ info: CaptureInfo) throws(FieldpackError) -> CaptureInfo {
    guard FileName.isSound(info.token) else {
      throw FieldpackError(
        .invalidData, "the token '\(info.token.prefix(80))' cannot be the name of a folder")
    }
    for time in [info.createdAt, info.uploadedAtStated]
    where !Instant.unixSeconds.contains(time) {
      throw FieldpackError(.invalidData, "the time \(time) is not one of the years 1 to 9999")
    }
    return info
  }
}
