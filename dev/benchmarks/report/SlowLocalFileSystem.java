// SPDX-License-Identifier: Apache-2.0

import java.io.FileWriter;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;

/** The local disk as far away as an object store: opening takes a while, and is written down. */
public class SlowLocalFileSystem extends LocalFileSystem {
    private static final Object LOG = new Object();

    /** Each opening ends up here, also those through a builder. */
    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        Configuration settings = getConf();
        note(settings.get("bench.open.log"), path);
        try {
            Thread.sleep(settings.getLong("bench.open.delay.ms", 0));
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", error);
        }
        return super.open(path, bufferSize);
    }

    private static void note(String log, Path path) throws IOException {
        synchronized (LOG) {
            try (FileWriter writer = new FileWriter(log, true)) {
                writer.write(System.currentTimeMillis() + " " + path.toUri().getPath() + "\n");
            }
        }
    }
}
