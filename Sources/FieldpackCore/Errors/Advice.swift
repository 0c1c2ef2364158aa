extension FieldpackError {
  /// What to do about an error, as a value: each program says it in words of its own.
  ///
  /// A library does not know who reads its errors. Swift code gets the names of the API here, and a
  /// tool names its options instead, so a message names neither.
  public indirect enum Advice: Hashable, Sendable, Codable {
    /// What the format to be named is of.
    public enum FormatSubject: Hashable, Sendable, Codable {
      /// A file that is imported or written.
      case file
      /// A source that is opened.
      case source
    }

    /// Several, the one nearest to the cause first.
    case several([Advice])

    // Files

    /// Let the file that exists be replaced, or take another name.
    case overwrite
    /// Write to another file than the one that is read.
    case writeElsewhere
    /// Write to a file: the format cannot be written to a stream.
    case writeToFile
    /// Allow the folder that a config leads to.
    case allowFolder
    /// Download the files of a config's remote stores.
    case fetchStores(config: String)
    /// Download the file of this store again, over the one that is there.
    case fetchAgain(config: String, store: StoreID)
    /// Say what format it is.
    case nameFormat(of: FormatSubject)
    /// Run the check, which tells all that is wrong with the file.
    case checkFile
    /// Build the spatial index anew.
    case rebuildIndex

    // Errors of single features and stores

    /// Pass over the features that cannot be read.
    case skipErrors
    /// Pass over the lines that cannot be read.
    case skipLines
    /// Pass over the stores that do not answer, or ask the others only.
    case skipErrorsOrNameStores
    /// Mend geometries that are not valid.
    case makeValid

    // Import

    /// Name the one layer that several files go into.
    case nameLayer
    /// Add to the layer, replace it, or take another name.
    case appendReplaceOrRename
    /// Replace the layer, or let features get new ids.
    case otherLayerOrOmitIDs
    /// Export a layer of the file to GeoJSON, and import that.
    case exportFirst(file: String)
    /// Import the store's file into a GeoPackage, which can be changed.
    case importIntoGeoPackage
    /// Take no column for the ids.
    case omitIDColumn
    /// Name a column whose values tell which features are the same.
    case nameMatchColumn
    /// Say what reference system the file is in, which names none.
    case nameSourceSRS
    /// Say what reference system the file is in, other than it says itself.
    case nameOtherSourceSRS
    /// Name the column of WKT, or those of x and y.
    case nameGeometryColumns
    /// Name a column of WKT or columns of x and y, and not both.
    case nameOneGeometry
    /// Name the columns of x and y, both.
    case nameBothCoordinates
    /// Name these columns of x and y.
    case nameCoordinates(x: String, y: String)
    /// Name this column of WKT.
    case nameWKTColumn(String)
    /// Take the ids from this column.
    case nameIDColumn(String)
    /// Say what encoding the file is in, where it is another.
    case nameEncoding
    /// Say that this is the delimiter.
    case nameDelimiter(String)
    /// Say that this sign stands before decimals.
    case nameDecimalSign(String)

    // Queries and export

    /// Ask one store, this one where it is known.
    case nameStore(StoreID?)
    /// Name one layer of a GeoPackage, so that it can get another name.
    case nameSourceLayer(file: String)
    /// Give each layer the name of its store as a prefix.
    case prefixStores
    /// Transform all layers to one reference system.
    case transformAll
    /// Transform one of the two layers.
    case transformLayer
    /// Leave the coordinates in WGS 84.
    case keepWGS84
    /// Take a format with a place for key tuples, or write none.
    case omitKeys
    /// Take a layer of points, or another dialect of GPX.
    case omitGPXDialect

    // Changes and SQL

    /// Take features with their key tuples for ids, as a query writes them.
    case useKeyTuples
    /// Keep what GeoJSON cannot carry by another way of changing, or give it up.
    case allowLoss
    /// Let triggers run that the engine does not know.
    case allowTriggers
    /// Log the edits of the layer, which upgrades or mends a log that there is.
    case logEdits(file: String, layer: String)
    /// Run the statement as one that may write.
    case runWriting
    /// Run the statements as a script that may write, or one at a time.
    case runWritingOrApart
    /// Rename or delete the layer with all that belongs to it, not its table alone.
    case renameOrDeleteLayer
    /// Rename or drop the column with all that belongs to it.
    case renameOrDropColumn
    /// Give the layer another type of geometries or columns.
    case retypeLayer
    /// Make the layer anew with the columns that it shall have.
    case makeLayerAnew
    /// Transform the layers of the file to another reference system.
    case transformFile
    /// Ask in SQL, which waits for a view that is slow.
    case waitInSQL

    // The backend

    /// Sign in to the backend that this config names, where it is known.
    case signIn(config: String?)
    /// Ask the backend by https, or allow to ask it without encryption.
    case allowUnencrypted

    // Tracks and captures

    /// Record a track first.
    case recordTrack
    /// Give a rate, or no pace.
    case setPace
    /// Install ffmpeg, or do without it.
    case installFFmpeg(or: Advice)
    /// Make no thumbnail.
    case omitThumbnail
    /// Take tiles that need no ffmpeg.
    case storeTilesAsPNG
    /// Keep the picture as it is.
    case keepBytes
    /// Import the capture that lies in a folder.
    case importCapture(folder: String, into: String)
    /// Look at the captures of a GeoPackage.
    case listCaptures(file: String)
  }
}

extension FieldpackError.Advice {
  /// This, and what comes after it; advice about a cause comes before that about its effect.
  package func then(_ next: FieldpackError.Advice?) -> FieldpackError.Advice {
    guard let next else { return self }
    return .several(single + next.single)
  }

  /// One or more, none of which is several.
  package var single: [FieldpackError.Advice] {
    guard case .several(let list) = self else { return [self] }
    return list.flatMap(\.single)
  }
}

extension FieldpackError.Advice: CustomStringConvertible {
  /// What to do in Swift, in words that follow `Try:`.
  public var description: String {
    switch self {
    case .several(let list): list.map(\.description).joined(separator: ". Try: ")
    case .overwrite: "overwrite = true, or another name"
    case .writeElsewhere: "another file to write to"
    case .writeToFile: "exportFeatures(_:to:) with a file"
    case .allowFolder: "allowing: with the folder it lies in"
    case .fetchStores: "StoreDownload, which gets the files of remote stores"
    case .fetchAgain: "StoreDownload with replaces = true, which gives up what was changed"
    case .nameFormat(of: .file): "format = .geoJSON, or another Format"
    case .nameFormat(of: .source): "SourceOptions.file.format = .geoJSON, or another Format"
    case .checkFile: "FileCheck().run(_:)"
    case .rebuildIndex: "FileOptimization with createsIndexes = true"
    case .skipErrors: "skipsErrors = true"
    case .skipLines: "skipsErrors = true to pass over such lines"
    case .skipErrorsOrNameStores: "skipsErrors = true, or Query.in(stores:) for the others"
    case .makeValid: "GeometryOperations.makesValid = true"
    case .nameLayer: "ImportOptions.layer to put them into one layer"
    case .appendReplaceOrRename: "mode .append, mode .replace, or another layer"
    case .otherLayerOrOmitIDs: "another layer, or features without an id"
    case .exportFirst(let file): "export a layer of \(file) to GeoJSON, then import that"
    case .importIntoGeoPackage: "import its file into a GeoPackage"
    case .omitIDColumn: "idColumn = nil"
    case .nameMatchColumn: "ImportOptions.matchColumn or idColumn"
    case .nameSourceSRS, .nameOtherSourceSRS: "sourceSRS"
    case .nameGeometryColumns: "CSVOptions.wktColumn, or xColumn and yColumn"
    case .nameOneGeometry: "CSVOptions.wktColumn alone, or xColumn and yColumn alone"
    case .nameBothCoordinates: "CSVOptions.xColumn and yColumn"
    case .nameCoordinates(let x, let y): "CSVOptions.xColumn = \"\(x)\" and yColumn = \"\(y)\""
    case .nameWKTColumn(let column): "CSVOptions.wktColumn = \"\(column)\""
    case .nameIDColumn(let column): "idColumn = \"\(column)\""
    case .nameEncoding: "CSVOptions.encoding"
    case .nameDelimiter(let sign): "CSVOptions.delimiter for \(sign)"
    case .nameDecimalSign(let sign): "CSVOptions.decimalSign = \(sign == "," ? ".comma" : ".point")"
    case .nameStore(let store): "Query.in(stores:)" + (store.map { " with '\($0)'" } ?? "")
    case .nameSourceLayer(let file): "ImportSource(\"\(file)\", layer:)"
    case .prefixStores: "prefixesStores = true"
    case .transformAll: "Query.transformed(to:)"
    case .transformLayer: "transform one of the two first"
    case .keepWGS84: "a query without transformed(to:)"
    case .omitKeys: "GeoJSON or CSV, or writesKeys = false"
    case .omitGPXDialect: "its layer of points, or gpxDialect = .gpx11"
    case .useKeyTuples: "geoJSON(of:), which writes them"
    case .allowLoss: "a FeatureUpdate with a geometry to keep them, or allowsLoss: to give them up"
    case .allowTriggers: "runsTriggers = true, or a store config with the option triggers"
    case .logEdits(_, let layer): "enableLog(of: \"\(layer)\")"
    case .runWriting: "run(sql:)"
    case .runWritingOrApart: "run(sql:), or one statement at a time"
    case .renameOrDeleteLayer: "renameLayer(_:to:) or removeLayer(_:)"
    case .renameOrDropColumn: "renameColumn(_:to:in:) or removeColumn(_:from:)"
    case .retypeLayer: "retypeGeometry(of:as:) or retypeColumn(_:as:in:)"
    case .makeLayerAnew: "a new layer with the columns to keep, and its features in it"
    case .transformFile: "Query.transformed(to:) and an export"
    case .waitInSQL: "rows(sql:), which waits for it"
    case .signIn: "signIn(user:password:)"
    case .allowUnencrypted: "https in the config, or allowsUnencrypted: true"
    case .recordTrack: "TrackRecorder"
    case .setPace: "rate = 1 for a fix a second, or speed = .max"
    case .installFFmpeg(let other): "install ffmpeg, or \(other)"
    case .omitThumbnail: "makesThumbnail: false"
    case .storeTilesAsPNG: "tiles that are stored as PNG"
    case .keepBytes: "keepsBytes: true"
    case .importCapture(let folder, let file):
      "CaptureImport().run([\"\(folder)\"], into: \"\(file)\")"
    case .listCaptures: "CaptureCatalogue.list()"
    }
  }
}
